--- `roper eval`: evaluates the model of a run, also on other text or problems.
local arguments = require "roper.workbench.session.command.arguments"

-- A formatted number; "-" for nil.
local function shown(form, number)
  return number and form:format(number) or "-"
end

-- The loss by the number of tokens before, and on longer rows.
local function text_tables(found)
  local by_position = { { "tokens before", "loss" } }
  for i, entry in ipairs(found.by_position) do
    by_position[i + 1] = { entry.first == entry.last and tostring(entry.first)
      or ("%d to %d"):format(entry.first, entry.last), shown("%.4f", entry.loss) }
  end
  local longer = { { "longer rows", "loss", "perplexity", "bits per byte" } }
  for i, entry in ipairs(found.longer) do
    longer[i + 1] = { entry.name, shown("%.4f", entry.loss), shown("%.2f", entry.perplexity),
      shown("%.4f", entry.bits_per_byte) }
  end
  return { by_position, longer }
end

-- The results on longer problems.
local function problem_tables(found)
  local longer = { { "longer problems", "solved", "accuracy", "loss", "floor" } }
  for i, entry in ipairs(found.longer) do
    longer[i + 1] = { entry.name, ("%d of %d"):format(entry.solved, entry.problems),
      shown("%.3f", entry.accuracy), shown("%.4f", entry.loss), shown("%.4f", entry.floor) }
  end
  return { longer }
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
    local run, evaluate = arguments.run(parsed.run), require "roper.workbench.study.evaluate"
    local ok, config = pcall(evaluate.configure, run, arguments.fields(parsed))
    if not ok then
      return config
    end
    local found = evaluate.run(run, parsed.checkpoint, config)
    local parts = { require("roper.workbench.study.run").told(found) }
    for _, rows in ipairs((found.accuracy and problem_tables or text_tables)(found)) do
      parts[#parts + 1] = rows[2] and require("roper.base.format.columns").align(rows)
    end
    io.stdout:write(table.concat(parts, "\n\n"), "\n")
    return nil
  end,
}
