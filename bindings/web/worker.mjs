// A worker with one session. session.mjs describes the messages from the page; those to the page:
// {state: "ready"}, {id, output, stream}, {id, message} with what the session shows, {id, reply},
// and {failure} if the engine has died; then a new one is started, with the same files.
import {canSuspend, Engine} from "./engine.mjs";
import {Files} from "./files.mjs";

const PAUSE = 20; // milliseconds of computing between two looks at the messages

// Waits until the messages that have arrived are handled. setTimeout would wait 4 ms.
const channel = new MessageChannel();
const rest = () => new Promise((resolve) => {
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(0);
});

const files = new Files(), queue = [];
let engine, module, options, busy = false, id, reply;

// What runs record as their processor, such as "Chrome 140".
function browser() {
  const {userAgent} = navigator;
  const name = userAgent.match(/(Firefox|Edg|OPR)\/\d+/) ?? userAgent.match(/Chrome\/\d+/)
    ?? userAgent.match(/Version\/\d+(?=.*Safari)/);
  return name ? name[0].replace("Version", "Safari").replace("/", " ") : "a browser";
}

async function start() {
  engine = undefined;
  engine = await Engine.start({
    module,
    files,
    rest,
    environment: {ROPER_BROWSER: browser(), ...options.environment},
    suspends: canSuspend && options.suspends !== false,
    output: (stream, output) => postMessage({id, stream, output}),
    send: (message) => {
      if (message.reply) reply = message.reply;
      else postMessage({id, message});
    }
  });
  engine.ask({banner: true}); // loads the session: an interrupt before code runs has no effect
}

// A response with a part of the page, given by its address or its bytes.
async function load(found) {
  return typeof found === "string" ?
    fetch(found) :
    new Response(found, {headers: {"content-type": "application/wasm"}});
}

async function open(first) {
  options = first;
  const archive = load(options.archive).then((response) => response.arrayBuffer());
  module = await WebAssembly.compileStreaming(load(options.engine));
  files.unpack(new Uint8Array(await archive));
  await start();
  postMessage({state: "ready", suspends: engine.suspends});
}

// What the page does with the files of the user.
const fileRequests = {
  list: (path) => files.list(path),
  stat: (folder) => files.list(folder).map((path) => {
    const {size, time} = files.node(`${folder}/${path}`);
    return {path, size, time};
  }),
  read: (path) => files.get(path).slice(),
  write: (path, bytes) => files.put(path, bytes),
  remove: (path) => files.remove(path),
};

async function work() {
  busy = true;
  while (queue.length > 0) {
    const request = queue.shift();
    id = request.id;
    reply = {};
    const begin = performance.now();
    try {
      if (request.reset) {
        await start();
        reply = {};
      } else if (await engine.work(request.ask, PAUSE) !== 0)
        reply = {error: "the session has failed"};
    } catch (error) {
      postMessage({failure: String(error)});
      await start();
      reply = {
        error: `the engine has stopped (${error.message}) and was started again; variables are lost`
      };
    }
    postMessage({id, reply, milliseconds: performance.now() - begin});
  }
  id = undefined;
  busy = false;
}

const fail = (error) => postMessage({state: "failed", error: String(error)});

onmessage = ({data}) => {
  if (data.engine) open(data).catch(fail);
  else if (data.interrupt) {
    if (busy) engine?.interrupt();
  } else if (data.files) {
    const [name, ...values] = data.files;
    try {
      postMessage({id: data.id, reply: {result: fileRequests[name](...values)}});
    } catch (error) {
      postMessage({id: data.id, reply: {error: error.message}});
    }
  } else {
    queue.push(data);
    if (!busy) work().catch(fail);
  }
};
