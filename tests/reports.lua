-- A hand-written sweep for tests of the report: two methods with three runs each, of which one
-- failed and one was killed. Also the tables of a report as text.

local terminal = require("roper.text.document.terminal")

local summary = require("roper.workbench.study.report.summary")

local M = {}

local METHODS <const> = { "rope", "roper" }

-- Metrics of a run: loss at every tenth step, accuracy at every twentieth.
local function metrics(method, seed, steps)
  local list = {}
  for step = 10, steps, 10 do
    list[#list + 1] = { step = step, seconds = step / 10,
      loss = 1.25 + (method == "rope" and 2 or 1) / step + seed / 1000,
      accuracy = step % 20 == 0 and step / 100 - seed / 1000 or nil }
  end
  return list
end

local function result(config, seed)
  local solved = config.position == "rope" and 60 or 90
  return {
    config = config, parameters = 1000, seconds = 61, problems = 128, solved = solved + seed,
    solved_greedy = solved + 2 * seed, accuracy = 0.9 + seed / 100, loss = 1.3 - seed / 100,
    loss_answers = 0.25, loss_questions = 2.5, last_half = 1.31,
    floor = 1.2776, test_floor = 1.2701,
    steps_to_90 = config.position == "roper" and 80 or nil,
    by_distance = { { distance = 4, right = 9, count = 10 },
      { distance = 7, right = config.position == "roper" and 1 or 0, count = 2 } },
    longer = { { name = "letters=16", problems = 128, solved = 30 + seed, accuracy = 0.5 } },
  }
end

--- One trial; `status` of its run.
---@param method string
---@param seed integer
---@param status string
---@return table
function M.trial(method, seed, status)
  local config = { experiment = "substring_index", preset = "mini", position = method, seed = seed,
    steps = 100, d_model = 128, rotate = false }
  local steps = status == "finished" and 100 or status == "failed" and 40
    or status == "running" and 60 or 0
  local finished = status == "finished"
  return { id = method .. seed, name = ("%s seed %d"):format(method, seed), folder = "/nowhere",
    method = method, seed = seed, config = config, run = {
      folder = "/nowhere", status = status, config = config, step = steps,
      metrics = metrics(method, seed, steps),
      provenance = { { version = "0.1.0", commit = "abc1234", threads = 2, started = seed,
        step = 0 } },
      result = finished and result(config, seed) or nil,
      samples = finished and { sampled = {
        { question = "?s='abc'; s[1:]=='", answer = "bc'#", text = "bc'#", solved = true },
        { question = "?s='xyz'; s[1:]=='", answer = "yz'#", text = "yx'#", solved = false },
      }, greedy = {} } or nil,
      failure = status == "failed" and "train: the loss is nan at step 41" or nil,
    } }
end

--- The view that the page of the report renders.
---@param trials table[]? those of the two methods by default
---@param methods string[]?
---@return table view
function M.view(trials, methods)
  local sweep = { folder = "/nowhere", experiment = "substring_index", varied = { "position" },
    methods = methods or METHODS, trials = trials or {
      M.trial("rope", 1, "finished"), M.trial("roper", 1, "finished"),
      M.trial("rope", 2, "finished"), M.trial("roper", 2, "running"),
      M.trial("rope", 3, "failed"), M.trial("roper", 3, "waiting") } }
  return { sweep = sweep, summary = summary.of(sweep), attention = {}, chosen = false }
end

--- A view of finished runs with the same seeds for each method, measured at 1, 2 and 8 times the
--- length in training. Methods differ by a constant, seeds by less.
---@param methods string[]
---@param seeds integer
---@return table view
function M.lengths(methods, seeds)
  local trials = {}
  for seed = 1, seeds do
    for i, method in ipairs(methods) do
      local trial = M.trial(method, seed, "finished")
      trial.run.result.longer = {}
      for k, times in ipairs { 2, 8 } do
        trial.run.result.longer[k] = { name = "letters=" .. 8 * times, times = times,
          problems = 128, solved = 100 - seed - 10 * k, accuracy = 0.9 - 0.2 * k
            + 0.01 * (i + seed % 3), accuracy_beyond = 0.8 - 0.3 * k + 0.01 * (i + seed % 3) }
      end
      for _, entry in ipairs(trial.run.metrics) do
        entry.accuracy = entry.accuracy and entry.accuracy * (0.9 + 0.02 * i)
      end
      trials[#trials + 1] = trial
    end
  end
  return M.view(trials, methods)
end

--- The rows of the first table of a class in a document, the head first; nil without such a table.
---@param tree any
---@param class string
---@return string[][]?
function M.rows(tree, class)
  if type(tree) ~= "table" or getmetatable(tree) then
    return nil
  elseif tree.kind == "table" and tree.class == class then
    local rows = {}
    for i = 0, #tree.rows do
      rows[i + 1] = {}
      for j, cell in ipairs(i == 0 and tree.head or tree.rows[i]) do
        rows[i + 1][j] = terminal.line(cell)
      end
    end
    return rows
  end
  for _, one in pairs(tree) do
    local found = M.rows(one, class)
    if found then
      return found
    end
  end
  return nil
end

--- A map like those of `report.attention_map`.
---@return table map
function M.attention_map()
  return { question = "ab=", answer = "cd", tokens = { "a", "b", "=", "c", "d" },
    layer = 2, head = 1, distance = 2, share = 0.75, rows = {
      { position = 2, predicted = "c", weights = { [0] = 0.125, [1] = 0, [2] = 0.875 } },
      { position = 3, predicted = "d",
        weights = { [0] = 0.25, [1] = 0.125, [2] = 0.625, [3] = 0 } },
    } }
end

return M
