--- A race: position schemes train in turns, one step of each, from the same seed. Each is a trial
--- of a sweep, so `./roper report` reads the folder.
local attention_map = require "roper.workbench.study.report.attention_map"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local experiment = require "roper.workbench.study.experiment"
local headline = require "roper.workbench.study.report.headline"
local plan = require "roper.workbench.study.sweep.plan"
local runner = require "roper.workbench.study.run"
local stored = require "roper.workbench.study.run.runs"
local summaries = require "roper.workbench.study.report.summary"
local sweep_file = require "roper.workbench.study.run.sweep_file"
local sweeps = require "roper.workbench.study.sweep"
local tables = require "roper.base.tables"

local M = {}

local EVERY <const> = 50 -- steps between checkpoints, after which the models answer
local STOP <const> = {} -- resumes a coroutine that shall end
local MOST_TOKENS <const> = 60 -- of an answer

local Racer = {}
Racer.__index = Racer

-- A trial that trains in a coroutine, which yields after each step.
local function new_racer(trial, send)
  local self = setmetatable({ trial = trial, step = 0 }, Racer)
  local progress = { finish = function() end, update = function(_, step, loss)
    if step == self.step then
      return -- an interrupted step is reported again
    end
    send { event = "step", position = trial.config.position, seed = trial.config.seed, step = step,
      loss = loss }
    self.step = step
    if coroutine.yield() == STOP then
      error("interrupted", 0)
    end
  end }
  self.thread = coroutine.create(function()
    return runner.run(trial.config, { run = trial.folder, resume = true, progress = progress })
  end)
  return self
end

-- Continues to the end of the next step, or of the run. Each racer has its own random state, as if
-- it trained alone.
function Racer:turn(...)
  if self.random then
    core.random_state(table.unpack(self.random))
  end
  local ok, result = coroutine.resume(self.thread, ...)
  self.random = { core.random_state() }
  if not ok then
    error(result, 0)
  end
  self.is_over = coroutine.status(self.thread) == "dead"
end

-- Ends a run as Ctrl-C does, which saves a checkpoint.
function Racer:stop()
  if coroutine.status(self.thread) == "suspended" and self.step > 0 then
    pcall(self.turn, self, STOP)
  end
end

-- The answer of a model to a question, or the reason why there is none.
local function answer_of(model, task, question)
  local expected, limit = nil, MOST_TOKENS
  if task:has_problems() then
    local ok, right = pcall(task.answer, task, question)
    expected = ok and right or nil
    limit = ok and task:encode(right):count() or limit
  end
  local ok, found = pcall(function()
    return require("roper.model.generate").generate(model, { question }, { task = task,
      limit = limit, temperature = 0, seed = 1 })[1]
  end)
  if not ok and diagnostics.is_interrupt(found) then
    error(found, 0)
  end
  return { answer = ok and found or nil, expected = expected,
    problem = not ok and diagnostics.without_place(tostring(found)) or nil }
end

-- Draws the weights of the clearest head on the answer to a problem.
local function draw(model, task, title)
  local map = attention_map.of(model, task)
  local keys, weights = map.rows[#map.rows].position + 1, {}
  for i, row in ipairs(map.rows) do
    weights[i] = {}
    for key = 1, keys do
      weights[i][key] = row.weights[row.position - key + 1] or 0
    end
  end
  require("roper.workbench.plot").attention(weights, { causal = true,
    tokens = table.move(map.tokens, 1, keys, 1, {}),
    title = ("%s: layer %d, head %d"):format(title, map.layer, map.head) })
end

-- Lets the models answer the question of the reader, or else a problem, and draws their attention.
local function look(racers, step, question, send)
  for _, racer in ipairs(racers) do
    local config = racer.trial.config
    local model, task = stored.model(stored.read(racer.trial.folder))
    local has_problems = task:has_problems()
    local asked = question or has_problems and attention_map.problem(task) or "The "
    send(tables.merged({ event = "answer", position = config.position, seed = config.seed,
      step = step, question = asked }, answer_of(model, task, asked)))
    if has_problems then
      draw(model, task, ("%s after %d steps"):format(config.position, step))
    end
  end
end

-- The number of completed intervals between checkpoints, of the racer that has fewest.
local function intervals(racers)
  local fewest = math.huge
  for _, racer in ipairs(racers) do
    fewest = racer.is_over and fewest or math.min(fewest, (racer.step - 1) // EVERY)
  end
  return fewest
end

-- Trains in turns to the end of all runs.
local function train(racers, question, send)
  local before, count
  repeat
    local is_moving = false
    for _, racer in ipairs(racers) do
      if not racer.is_over then
        racer:turn()
        is_moving = true
      end
    end
    count = intervals(racers)
    if before and count > before and count < math.huge then
      look(racers, count * EVERY, question, send) -- step count * EVERY + 1 follows its checkpoint
    end
    before = count
  until not is_moving
end

-- Trains the trials of one seed.
local function run(trials, question, send)
  if experiment.has_problems(trials[1].config) then
    send { event = "floor", loss = experiment.task(trials[1].config):floor() }
  end
  local racers = tables.map(trials, function(trial)
    return not stored.result(trial.folder, trial.config) and new_racer(trial, send) or nil
  end)
  local ok, problem = pcall(train, racers, question, send)
  for _, racer in ipairs(ok and {} or racers) do
    racer:stop()
  end
  if not ok then
    error(problem, 0)
  end
  if racers[1] then
    look(racers, trials[1].config.steps, question, send)
  end
end

-- Moves the runs of a shorter race to the folders of the same schemes and seeds.
local function move(from, trials)
  for _, old in ipairs(sweep_file.require(from)) do
    for _, trial in ipairs(trials) do
      if trial.config.position == old.config.position and trial.config.seed == old.config.seed then
        os.rename(old.folder, trial.folder)
      end
    end
  end
end

--- Runs a race to its end, or continues one that was interrupted. Sends messages:
---
---     {kind = "race", event = "floor", loss}: the least possible, if it is known
---     {kind = "race", event = "step", position, seed, step, loss}
---     {kind = "race", event = "answer", position, seed, step, question, answer, expected, problem}
---     {kind = "race", event = "result", text, measure, values = {{position, seed, value, loss,
---     failure}}}
---@param o table folder; experiment; fields; positions; seeds: lists; steps; question: text to
---   complete, by default a problem; from: folder of a race with fewer steps, to continue
---@param send fun(message: table)
function M.run(o, send)
  local function tell(message)
    send(tables.merged({ kind = "race" }, message))
  end
  local by_seed, configs = {}, {}
  for _, seed in ipairs(o.seeds) do
    for _, position in ipairs(o.positions) do
      configs[#configs + 1] = experiment.configure(o.experiment, tables.merged(o.fields, {
        position = position, seed = seed, steps = o.steps, checkpoint_every = EVERY,
        evaluate_every = EVERY }))
    end
  end
  local trials = plan.add(o.folder, configs)
  if o.from then
    move(o.from, trials)
  end
  for i, seed in ipairs(o.seeds) do
    by_seed[i] = tables.map(trials, function(trial)
      return trial.config.seed == seed and trial or nil
    end)
  end
  for _, group in ipairs(by_seed) do
    run(group, o.question, tell)
  end
  local sweep = sweeps.read(o.folder)
  local summary = summaries.of(sweep)
  tell { event = "result", text = headline.of(summary), measure = summary.measure.title,
    values = core.json_array(tables.map(sweep.trials, function(trial)
      local value = trial.run.result and summary.measure:value(trial.run)
      return { position = trial.config.position, seed = trial.seed, value = value or nil,
        loss = trial.run.result and trial.run.result.loss, failure = trial.run.failure }
    end)) }
end

return M
