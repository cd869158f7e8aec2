local experiment = require "roper.workbench.study.experiment"
local plots = require "roper.workbench.plot.output"
local run = require "roper.workbench.study.run"
local scratch = require "tests.scratch"
package.path = package.path .. ";bindings/?.lua"
local race = require "web.race"

local FIELDS <const> = { preset = "smoke", length = 33, d_model = 16, layers = 1, rate = 1e-2,
  problems = 2, test_sequences = 4, letters = 3, times = "1.01" }

-- The messages of a race, and the charts that it draws.
local function messages_of(changes, stop)
  local found, figures = {}, {}
  local before = plots.on_screen
  plots.on_screen = function(figure) figures[#figures + 1] = figure end
  local o = { experiment = "copy", fields = FIELDS, positions = { "rope", "roper" }, seeds = { 1 },
    steps = 6 }
  for name, value in pairs(changes) do
    o[name] = value
  end
  local ok, problem = pcall(race.run, o, function(message)
    found[#found + 1] = message
    if stop and message.event == "step" and stop(message) then
      error("interrupted", 0)
    end
  end)
  plots.on_screen = before
  return found, figures, not ok and problem or nil
end

local function steps_of(messages)
  local list = {}
  for _, message in ipairs(messages) do
    if message.event == "step" then
      list[#list + 1] = ("%s %d %d"):format(message.position, message.seed, message.step)
    end
  end
  return list
end

local function losses_of(messages)
  local last = messages[#messages]
  assert(last.event == "result")
  local found = {}
  for _, value in ipairs(last.values) do
    found[("%s %d"):format(value.position, value.seed)] = value.loss
  end
  return found, last.text
end

-- The loss of a run that trains alone.
local function alone(position, seed, steps)
  local config = { position = position, seed = seed, steps = steps, checkpoint_every = 50,
    evaluate_every = 50 }
  for name, value in pairs(FIELDS) do
    config[name] = value
  end
  return run.run(experiment.configure("copy", config), { progress = false }).loss
end

describe("a race", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("trains a step of each scheme in turn, with the results of runs alone", function()
    local messages = messages_of { folder = scratch.path "turns", steps = 3 }
    assert.same({ "rope 1 1", "roper 1 1", "rope 1 2", "roper 1 2", "rope 1 3", "roper 1 3" },
      steps_of(messages))
    assert.same({ ["rope 1"] = alone("rope", 1, 3), ["roper 1"] = alone("roper", 1, 3) },
      (losses_of(messages)))
  end)

  it("gives the same results after an interrupt as without one", function()
    local folder = scratch.path "interrupted"
    local messages, _, problem = messages_of({ folder = folder }, function(message)
      return message.step == 3 and message.position == "roper"
    end)
    assert.equal("interrupted", problem)
    assert.equal("roper 1 3", steps_of(messages)[6])
    messages = messages_of { folder = folder }
    assert.matches("[34]$", steps_of(messages)[1])
    assert.equal(alone("rope", 1, 6), losses_of(messages)["rope 1"])
    assert.equal(alone("roper", 1, 6), losses_of(messages)["roper 1"])
  end)

  it("trains finished runs further, and only what is missing", function()
    local first, second = scratch.path "short", scratch.path "long"
    messages_of { folder = first, steps = 2 }
    local messages = messages_of { folder = second, from = first, steps = 4,
      positions = { "rope", "roper", "none" } }
    local steps = steps_of(messages)
    assert.same({ "rope 1 3", "roper 1 3", "none 1 1" }, table.move(steps, 1, 3, 1, {}))
    assert.equal(alone("roper", 1, 4), losses_of(messages)["roper 1"])
    assert.same({}, steps_of((messages_of { folder = second, steps = 4,
      positions = { "rope", "roper", "none" } })))
  end)

  it("judges the difference of several seeds as a report does", function()
    local folder = scratch.path "seeds"
    local _, text = losses_of((messages_of { folder = folder, steps = 1, seeds = { 1, 2 } }))
    local view = require("roper.workbench.study.report").read(folder)
    assert.equal(require("roper.workbench.study.report.headline").of(view.summary), text)
    assert.matches("2 pairs of the same seed", text)
  end)

  it("asks the question of the reader, and draws the attention of each model", function()
    local messages, figures = messages_of { folder = scratch.path "asked", steps = 1,
      question = "abc>" }
    local answers = {}
    for _, message in ipairs(messages) do
      if message.event == "answer" then
        answers[#answers + 1] = { message.position, message.question, message.expected,
          #message.answer <= 4 }
      end
    end
    assert.same({ { "rope", "abc>", "abc#", true }, { "roper", "abc>", "abc#", true } }, answers)
    assert.equal(2, #figures)
    assert.matches("^roper after 1 steps: layer 1, head %d$", figures[2].title)
  end)

  it("says why a question cannot be asked, and ends all the same", function()
    local messages = messages_of { folder = scratch.path "refused", steps = 1, question = "?!" }
    local found
    for _, message in ipairs(messages) do
      found = found or message.problem
    end
    assert.matches('got "%?"', found)
    assert.is_number(losses_of(messages)["roper 1"])
  end)
end)
