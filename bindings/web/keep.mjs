// What the browser keeps of a user's work until it is removed: files of a session and texts, such
// as changed cells. If the browser keeps no data, pages work without it.

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("roper", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("files", {keyPath: "path"});
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// Calls work(store), and waits until its changes are stored. Returns the result of the request that
// work returns.
async function stored(work) {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction("files", "readwrite");
      const request = work(transaction.objectStore("files"));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

// Keeps the files of a session, below /home.
export class KeptFiles {
  #session;
  #times = new Map();
  #last = Promise.resolve(); // the last task: tasks run one after another

  constructor(session) {
    this.#session = session;
  }

  #next(task) {
    return this.#last = this.#last.then(task);
  }

  async #now() {
    return new Map((await this.#session.files.stat()).map(({path, time}) => [path, time]));
  }

  // Gives the kept files to a session that was started, or started again without files.
  restore() {
    return this.#next(() => this.#restore());
  }

  // Stores what the session has changed since `restore` or the last call. Returns whether all files
  // are stored: not if the session has failed, or the browser keeps none or has no more room.
  save() {
    return this.#next(() => this.#save());
  }

  async #restore() {
    this.#times = new Map();
    try {
      for (const {path, bytes} of await stored((store) => store.getAll()))
        await this.#session.files.write(path, bytes);
      this.#times = await this.#now();
    } catch {
      // the browser keeps no files
    }
  }

  async #save() {
    const {files} = this.#session;
    try {
      const times = await this.#now();
      const changed = [...times].filter(([path, time]) => time !== this.#times.get(path));
      const removed = [...this.#times.keys()].filter((path) => !times.has(path));
      const contents = await Promise.all(changed.map(([path]) => files.read(path)));
      await stored((store) => {
        changed.forEach(([path], i) => store.put({path, bytes: contents[i]}));
        removed.forEach((path) => store.delete(path));
      });
      this.#times = times;
      return true;
    } catch {
      return false;
    }
  }
}

// Texts or lists of texts by name, in one entry of the browser.
export class KeptTexts {
  #key;

  constructor(key) {
    this.#key = key;
  }

  all() {
    try {
      return JSON.parse(localStorage.getItem(this.#key)) ?? {};
    } catch {
      return {};
    }
  }

  get(name) {
    return this.all()[name];
  }

  // An undefined text is removed.
  set(name, text) {
    try {
      localStorage.setItem(this.#key, JSON.stringify({...this.all(), [name]: text}));
    } catch {
      // the browser keeps no texts
    }
  }
}
