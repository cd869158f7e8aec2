--- The study in small: the rotation identities, then RoPE against RoPER from the same seeds.
local core = require "roper.core"
local experiment = require "roper.experiment"
local folders = require "roper.folder"
local options_of = require "roper.options"

local M = {}

-- What a reader of the table must know about its floor.
M.FLOOR_NOTE = ([[
Mean ± standard error over the runs. The loss is over %d test sequences, the same
for all; the floor, the lowest that any predictor can reach, is the mean over all
sequences there are, so that a loss can lie a little below it.]]):format(experiment.TEST_SEQUENCES)

--- Mean and standard error; the latter is nil for a single number.
---@param numbers number[]
---@return number? mean nil of none
---@return number? standard error of the mean
function M.mean(numbers)
  local sum, squares, n = 0, 0, #numbers
  if n == 0 then
    return nil
  end
  for _, number in ipairs(numbers) do
    sum = sum + number
  end
  local mean = sum / n
  for _, number in ipairs(numbers) do
    squares = squares + (number - mean) ^ 2
  end
  return mean, n > 1 and (squares / (n - 1) / n) ^ 0.5 or nil
end

--- A finished run's result and history from its folder; nil when there is none, a torn one, or one
--- of another configuration.
local function finished(run, config)
  local file = io.open(run .. "/result.json", "rb")
  if not file then
    return nil
  end
  local ok, result = pcall(core.json_decode, file:read "a")
  file:close()
  if not ok or type(result.config) ~= "table" then
    return nil
  end
  for name, value in pairs(config) do
    if result.config[name] ~= value then
      return nil
    end
  end
  result.history = require("roper.metrics").read(run .. "/metrics.jsonl")
  return result
end

--- The configurations of all runs.
local function plan(o)
  local configs = {}
  for seed = 1, o.seeds do
    for _, method in ipairs(o.methods) do
      require("roper.position").resolve(method, 2) -- is there such a scheme?
      local fields = { position = method, seed = seed, preset = o.preset }
      for name, value in pairs(o.fields) do
        fields[name] = value
      end
      configs[#configs + 1] = experiment.configure(o.experiment, fields)
    end
  end
  return configs
end

--- Run what is missing.
local function run_all(o, configs, say)
  local results = {}
  for i, config in ipairs(configs) do
    local method, seed = config.position, config.seed
    local run = ("%s/%s-%d"):format(o.folder, method, seed)
    local name = ("%-5s seed %d"):format(method, seed)
    local result = finished(run, config)
    if result then
      say(("%s: done before, in %s"):format(name, run))
    else
      result = experiment.run(config, { run = run, resume = true, name = name,
        progress = o.progress })
    end
    result.method, result.seed = method, seed
    results[i] = result
  end
  return results
end

--- The results of one method.
local function of_method(results, method)
  local list = {}
  for _, result in ipairs(results) do
    if result.method == method then
      list[#list + 1] = result
    end
  end
  return list
end

local function values(list, name)
  local numbers = {}
  for _, result in ipairs(list) do
    numbers[#numbers + 1] = result[name]
  end
  return numbers
end

local function with_error(numbers, form)
  local mean, deviation = M.mean(numbers)
  if not mean then
    return "-"
  end
  return form:format(mean) .. (deviation and " ± " .. form:format(deviation) or "")
end

--- The table of the study: a row a method.
---@param results table[] with method, solved, problems, loss, floor, steps_to_90
---@param methods string[]
---@return string[][] the head, then the rows
function M.table(results, methods)
  local rows = { { "method", "correct of " .. results[1].problems, "loss", "floor",
    "steps to 90 %", "runs" } }
  for _, method in ipairs(methods) do
    local list = of_method(results, method)
    local reached = values(list, "steps_to_90")
    local steps = with_error(reached, "%.0f")
    if #reached < #list then
      steps = ("%s (%d of %d never)"):format(steps, #list - #reached, #list)
    end
    rows[#rows + 1] = { method, with_error(values(list, "solved"), "%.1f"),
      with_error(values(list, "loss"), "%.4f"), ("%.4f"):format(list[1].floor), steps,
      tostring(#list) }
  end
  return rows
end

--- Rows as aligned text.
---@param rows string[][]
---@return string
function M.align(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      widths[i] = math.max(widths[i] or 0, utf8.len(cell))
    end
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local space = (" "):rep(widths[i] - utf8.len(cell))
      cells[i] = i == 1 and cell .. space or space .. cell
    end
    lines[#lines + 1] = "  " .. table.concat(cells, "   ")
  end
  return table.concat(lines, "\n")
end

--- The rows of the identity table.
local function identity_rows(residuals)
  local rows = { { "identity", "float32", "float64", "" } }
  for _, r in ipairs(residuals) do
    rows[#rows + 1] = { r.statement, ("%.1e"):format(r.float32), ("%.1e"):format(r.float64),
      r.holds and "holds" or "FAILS" }
  end
  return rows
end

--- Curves of one number of the history, a line a run.
local function curves(results, methods, name)
  local series = {}
  for _, method in ipairs(methods) do
    for _, result in ipairs(of_method(results, method)) do
      local line = { label = method, x = {}, y = {} }
      for _, entry in ipairs(result.history) do
        if entry[name] then
          table.insert(line.x, entry.step)
          table.insert(line.y, entry[name])
        end
      end
      series[#series + 1] = line
    end
  end
  return series
end

--- The mean over the runs of each method, for where a line a run would be too many.
local function mean_curves(series)
  local means, by_label, runs = {}, {}, {}
  for _, line in ipairs(series) do
    local mean = by_label[line.label]
    if not mean then
      mean = { label = line.label, x = {}, y = {} }
      by_label[line.label], runs[mean] = mean, 0
      means[#means + 1] = mean
    end
    runs[mean] = runs[mean] + 1
    for i, value in ipairs(line.y) do
      mean.x[i], mean.y[i] = line.x[i], (mean.y[i] or 0) + value
    end
  end
  for _, mean in ipairs(means) do
    for i, sum in ipairs(mean.y) do
      mean.y[i] = sum / runs[mean]
    end
  end
  return means
end

--- The two pictures: accuracy on answers, and loss with its floor.
local function pictures_of(results, methods)
  local loss = curves(results, methods, "loss")
  local last = results[1].history[#results[1].history].step
  loss[#loss + 1] = { label = "floor", dashed = true, x = { 0, last },
    y = { results[1].floor, results[1].floor } }
  return {
    { series = curves(results, methods, "accuracy"), options = { format = "svg",
      title = "Accuracy on answer tokens, a line a run", xlabel = "step", ylabel = "accuracy" } },
    { series = loss, options = { format = "svg", title = "Loss, a line a run", xlabel = "step",
      ylabel = "nats per token" } },
  }
end

--- Run the study in small.
---@param options table? experiment = "substring_index", preset = "mini", methods = {"rope",
---   "roper"}, seeds = 3, folder = "runs/study", fields: others of the experiment, progress as for
---   `train`
---@return table identities, results, rows, page: path of the report
function M.run(options)
  local o = options_of.check("study", options, { experiment = { "string", "substring_index" },
    preset = { "string", "mini" }, methods = { "table", { "rope", "roper" } },
    seeds = { "size", 3 }, folder = { "string", "runs/study" }, fields = { "table", {} },
    progress = "any?" })
  if #o.methods == 0 then
    error("study: methods: expected a list of position schemes, got an empty one", 2)
  elseif o.fields.position or o.fields.seed then
    error("study: fields: position and seed are set by methods and seeds", 2)
  end
  local function say(text)
    io.stdout:write(text, "\n")
    io.stdout:flush()
  end
  local configs = plan(o)
  local started = require("luv").hrtime()
  local residuals = require("roper.identities").residuals()
  say "Rotation identities, residuals on random tensors\n"
  say(M.align(identity_rows(residuals)))
  for _, r in ipairs(residuals) do
    if not r.holds then
      error("study: an identity fails; nothing trained on it could be trusted", 0)
    end
  end
  local info = require("roper.info").info()
  say(("\n%s, %d threads, OpenBLAS %s"):format(info.processor, info.threads, info.blas_core))
  if info.warning then
    say("Slow: " .. info.warning)
  end
  say(("Training %s on %s (%s), %d seeds each, in %s\n"):format(
    table.concat(o.methods, " and "), o.experiment, o.preset, o.seeds, o.folder))
  folders.make(o.folder)
  local results = run_all(o, configs, say)
  local rows = M.table(results, o.methods)
  say("\n" .. M.align(rows) .. "\n")
  say(M.FLOOR_NOTE .. "\n")
  local plot, pictures = require "roper.plot", pictures_of(results, o.methods)
  plot.line(mean_curves(pictures[1].series), { xlabel = "step", ylabel = "accuracy",
    title = "Accuracy on answer tokens, mean of the runs" })
  say ""
  local page = o.folder .. "/report.html"
  require("roper.report").write(page, {
    title = ("%s, %s: %s"):format(o.experiment, o.preset, table.concat(o.methods, " and ")),
    identities = identity_rows(residuals), rows = rows, note = M.FLOOR_NOTE, results = results,
    pictures = plot.available() and pictures or {},
  })
  say(("%d runs in %s; the report with the curves: %s"):format(#results,
    require("roper.progress").duration((require("luv").hrtime() - started) * 1e-9), page))
  return { identities = residuals, results = results, rows = rows, page = page }
end

return M
