--- `roper eval`: evaluates the model of a run, also on other text or problems.
local arguments = require "roper.workbench.session.command.arguments"
local d = require "roper.text.document"
local measures = require "roper.workbench.study.run.measures"
local render = require("roper.text.document.terminal").render
local tables = require "roper.base.tables"

-- A formatted number; "-" for nil.
local function shown(form, number)
  return number and form:format(number) or "-"
end

-- A table with a row for each result; false without results.
local function table_of(head, results, cells)
  return results[1] ~= nil and d.table { head = head, rows = tables.map(results, cells) }
end

-- A range of numbers: "5" or "5 to 8".
local function range(one)
  return one.first == one.last and tostring(one.first) or ("%d to %d"):format(one.first, one.last)
end

-- The loss by the number of tokens before, and on longer rows.
local function text_tables(found)
  return { table_of({ "tokens before", "loss" }, found.by_position, function(one)
    return { range(one), shown("%.4f", one.loss) }
  end), table_of({ "longer rows", "loss", "perplexity", "bits per byte" }, found.longer,
    function(one)
      return { one.name, shown("%.4f", one.loss), shown("%.2f", one.perplexity),
        shown("%.4f", one.bits_per_byte) }
    end) }
end

-- Adds up answers by distance: 1, 2, 3 to 4, 5 to 8 and so on. `first` and `last` are distances
-- that occur.
local function ranges(by_distance)
  local list = {}
  for _, entry in ipairs(by_distance) do
    local one = list[#list]
    if not one or entry.distance > one.most then
      one = { first = entry.distance, most = 1, right = 0, count = 0 }
      while one.most < entry.distance do
        one.most = 2 * one.most
      end
      list[#list + 1] = one
    end
    one.last, one.right, one.count = entry.distance, one.right + entry.right,
      one.count + entry.count
  end
  return list
end

-- The accuracy on answer tokens by the distance to their source, and results on longer problems.
local function problem_tables(found)
  return { table_of({ "tokens back to the source", "accuracy", "answer tokens" },
    ranges(found.by_distance), function(one)
      return { range(one), shown("%.3f", one.right / one.count), tostring(one.count) }
    end), table_of({ "longer problems", "solved", "accuracy", "beyond the trained size", "loss",
      "floor" }, found.longer, function(one)
      return { one.name, ("%d of %d"):format(one.solved, one.problems),
        shown("%.3f", one.accuracy), shown("%.3f", one.accuracy_beyond), shown("%.4f", one.loss),
        measures.floor(one.floor) }
    end) }
end

return {
  summary = "Evaluate the model of a run, also on other text or problems.",
  define = function(command)
    arguments.define_run(command)
    arguments.define_fields(command, "field=value", "For text: text=FILE for all text of a file or "
      .. "folder, length=513 for longer rows. For problems: options of the task, such as "
      .. "max_digits=6. By default as in the run.")
  end,
  run = function(parsed)
    arguments.set_threads(parsed)
    local evaluate, fields = require "roper.workbench.study.run.evaluate", arguments.fields(parsed)
    local found
    if require("roper.model.published.files").has_model(parsed.run) then
      found = evaluate.published(parsed.run, fields)
    else
      local run = arguments.run_with_note(parsed.run)
      local ok, config = pcall(evaluate.configure, run, fields)
      if not ok then
        return config
      end
      found = evaluate.run(run, parsed.checkpoint, config)
    end
    local results = (found.accuracy and problem_tables or text_tables)(found)
    io.stdout:write(measures.line(found), "\n\n", render(results))
  end,
}
