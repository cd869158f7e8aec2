--- The measures of a run: how each number of a result is named, read, summarized and compared.
local definitions = require "roper.workbench.study.experiment.definitions"
local experiment = require "roper.workbench.study.experiment"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local M = {}

---@class Measure
---@field name string of its field in a result
---@field title string in tables and above charts
---@field phrase? string in a sentence; the title by default
---@field digits integer after the decimal point
---@field run_digits? integer the same for a single run
---@field length_digits? integer the same in the table by length
---@field sign integer 1 if larger values are better, -1 if smaller values are
---@field kind? "problems"|"text" the tasks that have it; by default both
---@field by_length? "problems"|"text" the tasks that also have it for longer problems or rows
---@field is_beyond? boolean true if only longer problems have it
---@field in_table? boolean true for a column of the study's table
---@field is_brief? boolean true if a terminal shows differences in it
---@field legend? string below the study's table
---@field length_legend? string the sample of the table by length
---@field low? number smallest possible value
---@field high? number largest possible value
---@field curve? table its curve during training: field of the metrics, title, y; low and high if it
---   has bounds
---@field times? number only of a measure by length: the length as a multiple of that in training
---@field base? Measure only of a measure by length: the measure at the length in training
local Measure = {}
Measure.__index = Measure

--- Returns the value of a finished run.
---@param run Run
---@return number? value nil if the run has none, or if it was not finite
---@return boolean? is_censored true if the true value is larger
function Measure:value(run)
  return run.result[self.name]
end

--- Returns the heading in the study's table.
function Measure:heading(result)
  return self.name == "solved" and result.problems
    and ("%s of %d"):format(self.title, result.problems) or self.title
end

--- Returns the statistics of the finished runs of a method.
---@param runs Run[]
---@return table found n, mean, median, error (standard), low and high (95 % interval of this mean
---   alone), trimmed (mean without the worst tenth), kept, removed
function Measure:summarize(runs)
  local numbers = tables.map(runs, function(run) return (self:value(run)) end)
  local kept, removed = statistics.trim(numbers, self.sign > 0 and "smallest" or "largest")
  local low, high = statistics.interval(numbers)
  return { n = #numbers, mean = statistics.mean(numbers), median = statistics.median(numbers),
    error = statistics.standard_error(numbers), low = low, high = high,
    trimmed = statistics.mean(kept), kept = #kept, removed = removed }
end

--- Returns true if the values of two runs of different methods are comparable.
---@param a table statistics of the first method
---@param b table statistics of the second method
---@param first Run
---@param second Run
---@return boolean
function Measure.is_comparable()
  return true
end

--- Returns the kind of task of a run.
---@param run Run
---@return "problems"|"text"
function M.kind(run)
  return experiment.has_problems(run.config or {}) and "problems" or "text"
end

--- All measures, in the order in which reports show them.
---@type Measure[]
M.ALL = {
  { name = "solved", title = "correct", phrase = "correct answers", digits = 1, run_digits = 0,
    sign = 1, kind = "problems", in_table = true, is_brief = true,
    legend = "problems solved by random sampling, as in the RoPER study, because their share "
      .. "estimates the probability that the model gives to right answers; greedy decoding, also "
      .. "measured, shows only whether its most probable tokens are right",
    curve = { field = "accuracy", title = "Accuracy on answer tokens", y = "accuracy", low = 0,
      high = 1 } },
  { name = "solved_greedy", title = "correct, greedy", digits = 1, run_digits = 0, sign = 1,
    kind = "problems" },
  { name = "accuracy", title = "accuracy", digits = 4, length_digits = 3, sign = 1,
    kind = "problems", by_length = "problems", low = 0, high = 1,
    legend = "share of answer tokens predicted correctly",
    length_legend = "All answer tokens of rows with problems" },
  { name = "accuracy_beyond", title = "accuracy beyond the trained size", digits = 4,
    length_digits = 3, sign = 1, kind = "problems", by_length = "problems", is_beyond = true,
    low = 0, high = 1,
    length_legend = "Only the answer tokens of problems, or at positions, larger than any in "
      .. "training, of rows with problems" },
  { name = "loss", title = "loss", digits = 4, sign = -1, in_table = true, is_brief = true,
    legend = "nats per token on held-out sequences",
    curve = { field = "test_loss", title = "Loss on test sequences", y = "loss in nats per token" },
    by_length = "text", length_legend = "Rows of validation documents" },
  { name = "perplexity", title = "perplexity", digits = 2, sign = -1, kind = "text",
    in_table = true, legend = "exponential of the loss" },
  { name = "bits_per_byte", title = "bits per byte", digits = 4, sign = -1, kind = "text",
    in_table = true, is_brief = true,
    legend = "loss per byte of text, comparable across vocabularies",
    curve = { field = "validation_loss", title = "Validation loss",
      y = "validation loss in nats per token" } },
  { name = "last_half", title = "training loss, last half", digits = 4, sign = -1 },
  { name = "steps_to_90", title = "steps to 90 %", digits = 0, sign = -1, kind = "problems",
    in_table = true, is_brief = true,
    legend = "median of the steps until 90 % of the answer tokens were right, and the number of "
      .. "runs that reached this; the others count as slower, and the median is undetermined if "
      .. "they are half" },
}

local by_name = {}
for _, measure in ipairs(M.ALL) do
  measure.phrase = measure.phrase or measure.title
  by_name[measure.name] = setmetatable(measure, Measure)
end

local steps = by_name.steps_to_90

-- The value of a run that never reached 90 % is its number of steps, censored.
function steps:value(run)
  local reached = run.result[self.name]
  if not reached and M.kind(run) == self.kind then
    return run.config.steps, true
  end
  return reached
end

function steps:summarize(runs)
  runs = tables.map(runs, function(run) return M.kind(run) == self.kind and run or nil end)
  local times = tables.map(runs, function(run) return run.result[self.name] end)
  return statistics.censored(times, #runs, runs[1] and runs[1].config.steps or 0)
end

-- If no run reached 90 %, or the two had different numbers of steps, a difference has no meaning.
function steps.is_comparable(_, a, b, first, second)
  return a.reached + b.reached > 0 and first.config.steps == second.config.steps
end

-- Creates the measure of problems or rows `times` as long as in training.
local function at_length(base, times)
  local measure = setmetatable({ name = ("%s_%g"):format(base.name, times), times = times,
    base = base, title = ("%s at %g times the length"):format(base.title, times),
    is_brief = false, in_table = false }, { __index = base })
  function measure.value(_, run)
    for _, entry in ipairs(run.result.longer or {}) do
      if entry.times == times then
        return entry[base.name]
      end
    end
    return nil
  end
  return measure
end

-- Adds the measures by length of a result.
local function note_lengths(seen, kind, longer)
  for _, entry in ipairs(longer) do
    for _, base in ipairs(M.ALL) do
      if entry.times and base.by_length == kind and (entry[base.name] or not base.is_beyond) then
        seen[base] = seen[base] or {}
        seen[base][entry.times] = true
      end
    end
  end
end

--- Returns the measures that the runs of a sweep have, including measures by length for each length
--- at which a finished run was measured.
function M.of(trials)
  local kinds, seen, list = { problems = #trials == 0 }, {}, {}
  for _, trial in ipairs(trials) do
    local kind = M.kind(trial.run)
    kinds[kind] = true
    note_lengths(seen, kind, trial.run.status == "finished" and trial.run.result.longer or {})
  end
  for _, measure in ipairs(M.ALL) do
    local has_kind = not measure.kind or kinds[measure.kind]
    list[#list + 1] = has_kind and not measure.is_beyond and measure or nil
  end
  for _, base in ipairs(M.ALL) do
    for _, times in ipairs(tables.keys(seen[base] or {})) do
      list[#list + 1] = at_length(base, times)
    end
  end
  return list
end

--- Returns the measures by length of a list from `of`, grouped by the measure that they belong to.
---@param list Measure[]
---@return table[] groups {base, columns: the measure at each length, in ascending order}
function M.by_length(list)
  local groups = {}
  for _, base in ipairs(M.ALL) do
    local columns = tables.map(list, function(measure)
      return (measure == base or measure.base == base) and measure or nil
    end)
    table.sort(columns, function(a, b) return (a.times or 1) < (b.times or 1) end)
    groups[#groups + 1] = columns[1] and columns[#columns].base
      and { base = base, columns = columns } or nil
  end
  return groups
end

--- Returns the measure by which methods are compared: the one that the files of all experiments
--- name, or else correct answers for problems and bits per byte for text.
---@param experiments string[] names, also of experiments that no longer exist
---@return Measure measure
function M.main(experiments)
  local found, has_problems = nil, #experiments == 0
  for _, name in ipairs(experiments) do
    local definition = definitions.find(name)
    local measure = definition and definition.measure or false
    found = (found == nil or found == measure) and measure
    has_problems = has_problems or experiment.has_problems { experiment = name }
  end
  return by_name[found or has_problems and "solved" or "bits_per_byte"]
end

--- Returns the measures whose curves every report shows: the main one, if it has a curve, then the
--- defaults of both kinds of task.
---@param main Measure
---@return Measure[] measures each with `curve`; the first is the main one, or replaces it
function M.with_curves(main)
  local list = { main.curve and main or nil }
  for _, measure in ipairs { by_name.solved, by_name.bits_per_byte } do
    list[#list + 1] = measure ~= main and measure or nil
  end
  return list
end

--- Formats the lowest possible loss of a task.
---@param floor number? nil if it is not known
---@return string
function M.floor(floor)
  return floor and ("%.4f"):format(floor) or "unknown"
end

--- Describes how a run diverged.
---@param result table
---@return string? text nil if it did not
function M.divergence(result)
  local found = result.diverged
  return found and ("%s at step %s"):format(found.reason or "training diverged", found.step or "?")
end

--- Formats the results of a run as one line, with "-" for numbers that were not finite.
---@param result table from a result file, or as `run` returns it
---@param is_brief? boolean without greedy decoding and accuracy
---@return string
function M.line(result, is_brief)
  local function number(form, value)
    return value and form:format(value) or "-"
  end
  if result.diverged then
    return "diverged: " .. M.divergence(result)
  elseif not result.solved then
    return ("loss %s, perplexity %s, %s bits per byte"):format(number("%.4f", result.loss),
      number("%.2f", result.perplexity), number("%.4f", result.bits_per_byte))
  end
  local about = result.chance and { ("chance %.3f"):format(result.chance) } or {}
  about[#about + 1] = result.accuracy_beyond
    and ("beyond the trained size %.3f"):format(result.accuracy_beyond) or nil
  about = about[1] and (" (%s)"):format(table.concat(about, ", ")) or ""
  return ("%d of %d solved by sampling%s, loss %s (floor %s)"):format(result.solved,
    result.problems, is_brief and ""
      or (", %d by greedy decoding, accuracy on answers %s%s"):format(result.solved_greedy,
        number("%.3f", result.accuracy), about),
    number("%.4f", result.loss), M.floor(result.test_floor))
end

return M
