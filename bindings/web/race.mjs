// The race: position schemes train in turns in the worker, and their losses grow on one chart.
import {Chart} from "./chart.mjs";
import {download, downloadFolder} from "./folders.mjs";
import {make, picture} from "./output.mjs";
import {CANNOT_LOAD, restarted, Session} from "./session.mjs";

const MEASURED = {
  warmup: 0,
  test_sequences: 32,
  times: "1.01" // no longer sequences: it rounds to 1
};
const PROBLEMS = {
  ...MEASURED,
  preset: "comparison",
  problems: 16
};
const TASKS = {
  substring_prefix: {
    title: "Substring by Prefix",
    rate: "0.01",
    question: "dcbacbbd>dcb",
    fields: {...PROBLEMS, length: 81, substring_length: 40, problems: 8}
  },
  copy: {title: "Copy", rate: "0.003", question: "hello>", fields: PROBLEMS},
  recall: {title: "Recall", rate: "0.003", question: "?k3Q8>k", fields: PROBLEMS},
  language_model: {
    title: "your own text",
    rate: "0.003",
    question: "The model ",
    fields: {
      ...MEASURED,
      preset: "smoke",
      files: "text.txt",
      tokenizer: "bytes",
      documents: "paragraphs",
      validation: 0.2,
      length: 65,
      batch: 16,
      heads: 4
    }
  },
};
const TITLES = {
  rope: "RoPE",
  roper: "RoPER"
};
const MORE = 50; // steps
const HARDLY = 0.05; // a smaller difference of losses counts as none
const MOST_ANSWERS = 30; // rows

const $ = (id) => document.getElementById(id);
const title = (position) => TITLES[position] ?? position;
const chart = new Chart($("chart"), title);
const session = new Session({
  onState: show,
  onFailure(reason) {
    offer(`${restarted(reason)} The runs are kept up to their last checkpoint.`);
  }
});

let race, count = 0, floor;

function show(state) {
  document.body.dataset.state = state;
  $("state").textContent = state === "busy" ? "training" : state;
  if (state === "failed") offer(CANNOT_LOAD);
}

function offer(reason) {
  $("reason").textContent = reason;
  $("ended").hidden = false;
}

// A new race, as the form describes it.
function setUp() {
  const experiment = $("task").value, {fields} = TASKS[experiment];
  const positions = $("positions").value.match(/(?:\{[^}]*\}|[^\s{}])+/g) ?? ["rope", "roper"];
  race = {
    experiment,
    folder: `race-${++count}`,
    positions,
    seeds: [Number($("seed").value) || 1],
    steps: Number($("steps").value),
    guess: undefined,
    fields: {
      ...fields,
      rate: $("rate").value,
      d_model: Number($("width").value),
      layers: Number($("layers").value)
    }
  };
  floor = undefined;
  chart.clear();
  chart.set({steps: race.steps, floor, seed: race.seeds[0]});
  $("goal").textContent = race.steps;
  $("predict").querySelector(".row").replaceChildren(
    ...positions.map((position) => choice(title(position), position, "main")),
    choice(`Less than ${HARDLY} apart`, "none", "main"),
    choice("Train without an answer", "", "plain"));
  $("predict").hidden = false;
  $("verdict").hidden = $("results").hidden = $("maps").hidden = true;
  $("attention").replaceChildren();
  $("answers").hidden = true;
  $("answers").tBodies[0].replaceChildren();
  update(false);
}

function choice(textContent, guess, className) {
  const button = make("button", {type: "button", textContent, className});
  button.dataset.guess = guess;
  button.addEventListener("click", () => {
    race.guess = guess;
    $("predict").hidden = true;
    train();
  });
  return button;
}

function update(isTraining, isStopped = false) {
  $("stop").disabled = !isTraining;
  $("resume").hidden = !isStopped;
  const isStarted = race.guess !== undefined;
  $("longer").disabled = $("again").disabled = isTraining || isStopped || !isStarted;
  $("start").disabled = isTraining;
}

// Trains what is missing of the race.
async function train() {
  const current = race;
  update(true);
  chart.set({steps: race.steps});
  $("ended").hidden = true;
  if (race.experiment === "language_model")
    await session.files.write("text.txt", new TextEncoder().encode($("text").value));
  const {folder, experiment, fields, positions, seeds, steps, from} = race;
  const pace = {begin: performance.now(), steps: 0};
  let shown;
  const {error} = await session.race({
    folder,
    experiment,
    fields,
    positions,
    seeds,
    steps,
    from,
    question: $("question").value || undefined
  },
    {
      race(message) {
        if (message.event === "answer") shown = message.position;
        EVENTS[message.event](message, pace);
      },
      figure: ({svg}) => drawn(shown, svg),
    });
  race.from = undefined;
  if (race !== current) return;
  if (error && error !== "interrupted") {
    $("reply").textContent = error;
    $("verdict").hidden = false;
  }
  update(false, Boolean(error));
  if (error && chart.rows.length === 0) $("predict").hidden = false;
}

const EVENTS = {
  floor({loss}) {
    floor = loss;
    chart.set({floor});
  },
  step(message, pace) {
    chart.set({seed: message.seed});
    chart.add(message);
    pace.steps++;
    $("speed").textContent = `seed ${message.seed}, step ${message.step} of ${race.steps}, ` +
      `${Math.round((performance.now() - pace.begin) / pace.steps)} ms a step`;
  },
  answer({seed, step, position, question, answer, expected, problem}) {
    const row = make("tr");
    for (const text of [seed, step, title(position)]) row.append(make("td", {textContent: text}));
    for (const text of [problem ?? answer, expected ?? "", question])
      row.append(
        make("td", {}, problem && text === problem ? text : make("code", {textContent: text})));
    $("answers").hidden = false;
    $("answers").tBodies[0].prepend(row);
    $("answers").tBodies[0].rows[MOST_ANSWERS]?.remove();
  },
  result: conclude,
};

function drawn(position, svg) {
  const figure = make("figure", {}, picture(svg));
  figure.dataset.position = position;
  const before = [...$("attention").children].find((one) => one.dataset.position === position);
  if (before) before.replaceWith(figure);
  else $("attention").append(figure);
  $("maps").hidden = false;
}

// What is said about the best two losses, and about the prediction if it is answered now.
function compared([best, next]) {
  if (!next) return [];
  const gap = next.loss - best.loss, winner = gap < HARDLY ? "none" : best.position;
  const said = winner === "none" ? `The best two are less than ${HARDLY} apart.` :
                                   `${title(winner)} is lower by ${gap.toFixed(2)}.`;
  if (!race.guess || race.seeds.length > 1 || race.isAnswered) return [said];
  if (race.guess === winner) return [said, "You predicted that."];
  const guess = race.guess === "none" ? "hardly a difference" : title(race.guess);
  return [said, `You predicted ${guess}.`];
}

// The losses on test sequences, what was predicted, and what reports say about the difference.
function conclude({text, values}) {
  const seed = race.seeds.at(-1), ofSeed = values.filter((value) => value.seed === seed);
  const losses = ofSeed.filter(({loss}) => loss !== undefined).sort((a, b) => a.loss - b.loss);
  const sentences = ofSeed.filter(({failure}) => failure).map(({position,
    failure}) => `${title(position)}: ${failure}.`);
  if (losses.length > 0) {
    const each = losses.map(({position, loss}) => `${loss.toFixed(2)} for ${title(position)}`);
    const least = floor ? `; ${floor.toFixed(2)} is the least possible` : "";
    sentences.push(`After ${race.steps} steps with seed ${seed}, the loss on 32 test sequences is`,
      `${each.join(" and ")}${least}.`, ...compared(losses));
  }
  $("reply").textContent = sentences.join(" ");
  $("chart").setAttribute("aria-label", $("reply").textContent);
  $("noise").textContent = `All seeds so far, as in a report: ${text}`;
  $("verdict").hidden = $("results").hidden = false;
  $("folder").textContent = race.folder;
  race.isAnswered = true;
  tabulate(values);
}

// A row for each seed, a column for each method.
function tabulate(values) {
  const head = make("tr", {}, make("th", {textContent: "test loss"}),
    ...race.positions.map(
      (position) => make("th", {textContent: title(position), className: "n"})));
  const rows = [...new Set(values.map(({seed}) => seed))].map(
    (seed) => make(
      "tr", {}, make("th", {textContent: `seed ${seed}`}), ...race.positions.map((position) => {
        const value = values.find((one) => one.seed === seed && one.position === position);
        return make(
          "td", {className: "n", textContent: value?.loss?.toFixed(3) ?? value?.failure ?? ""});
      })));
  $("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

$("csv").addEventListener("click", () => {
  const lines = chart.rows.map(([seed, position, step, loss]) =>
                                 `${seed},"${position.replaceAll('"', '""')}",${step},${loss}`);
  download(new Blob([`seed,method,step,loss\n${lines.join("\n")}\n`], {type: "text/csv"}),
    `${race.folder}.csv`);
});

$("tar").addEventListener("click", () => downloadFolder(session, race.folder));

$("stop").addEventListener("click", () => session.interrupt());
$("resume").addEventListener("click", train);
$("longer").addEventListener("click", () => {
  Object.assign(race, {from: race.folder, folder: `race-${++count}`, steps: race.steps + MORE});
  train();
});
$("again").addEventListener("click", () => {
  race.seeds.push(race.seeds.at(-1) + 1);
  train();
});
$("restart").addEventListener("click", () => {
  session.restart();
  $("ended").hidden = true;
  setUp();
});

for (const [name, task] of Object.entries(TASKS))
  $("task").append(make("option", {value: name, textContent: task.title}));
$("task").addEventListener("change", () => {
  const {rate, question} = TASKS[$("task").value];
  $("rate").value = rate;
  $("question").placeholder = question;
  $("question").value = "";
  $("own").hidden = $("task").value !== "language_model";
});
$("text").value = [...document.querySelectorAll("main p")]
                    .map((p) => p.textContent.replace(/\s+/g, " ").trim())
                    .filter((text) => text.length > 40)
                    .join("\n\n");
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  setUp();
  $("predict").scrollIntoView({block: "center"});
  $("predict").querySelector("button").focus({preventScroll: true});
});

// The schemes, as the prompt completes them.
session.complete('roper.attention(q, k, v, {position = "')
  .then(({names = []}) =>
          $("scheme").append(...names.map((name) => make("option", {textContent: name}))));
$("scheme").addEventListener("change", () => {
  if ($("scheme").value) $("positions").value += ` ${$("scheme").value}`;
  $("scheme").value = "";
});
setUp();
