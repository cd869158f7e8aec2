--- `roper eval`: evaluates the model of a run, also on other text or problems.
local arguments = require "roper.workbench.session.command.arguments"
local d = require "roper.base.document"
local measures = require "roper.workbench.study.measures"
local render = require("roper.base.document.terminal").render
local tables = require "roper.base.tables"

-- A formatted number; "-" for nil.
local function shown(form, number)
  return number and form:format(number) or "-"
end

-- A table with a row for each result; false without results.
local function table_of(head, results, cells)
  return results[1] ~= nil and d.table { head = head, rows = tables.map(results, cells) }
end

-- The loss by the number of tokens before, and on longer rows.
local function text_tables(found)
  return { table_of({ "tokens before", "loss" }, found.by_position, function(one)
    return { one.first == one.last and tostring(one.first)
      or ("%d to %d"):format(one.first, one.last), shown("%.4f", one.loss) }
  end), table_of({ "longer rows", "loss", "perplexity", "bits per byte" }, found.longer,
    function(one)
      return { one.name, shown("%.4f", one.loss), shown("%.2f", one.perplexity),
        shown("%.4f", one.bits_per_byte) }
    end) }
end

local function problem_tables(found)
  return table_of({ "longer problems", "solved", "accuracy", "loss", "floor" }, found.longer,
    function(one)
      return { one.name, ("%d of %d"):format(one.solved, one.problems),
        shown("%.3f", one.accuracy), shown("%.4f", one.loss), measures.floor(one.floor) }
    end)
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
    local evaluate, fields = require "roper.workbench.study.evaluate", arguments.fields(parsed)
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
