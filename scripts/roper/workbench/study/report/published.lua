--- Comparison of a sweep with the results that the RoPER study published.
---
--- Georges Harik and Varuna Jayasiri, "Rotary Positional Embeddings with Relative distances
--- (RoPER)", 2022, table of the section "Analysis". Each figure is the mean of 9 of 10 training
--- sessions, without the worst. Standard errors were not published.
local counted = require("roper.base.escape").count
local d = require "roper.text.document"
local number = require "roper.workbench.study.report.number"

local EXPERIMENTS <const> = {
  addition = { measure = "solved", rope = 124.33, roper = 126.33,
    setting = "20 M parameters, 5,000 steps" },
  substring_index = { measure = "solved", rope = 62.00, roper = 96.11,
    setting = "20 M parameters, 5,000 steps" },
  substring_prefix = { measure = "loss", rope = 0.3329, roper = 0.3205,
    setting = "0.6 M parameters, 65,000 steps" },
}

-- Returns the mean of a method in this sweep by the study's rule, and its number of runs as text.
local function own(view, method, name)
  for _, entry in ipairs(view.summary.methods) do
    if entry.method == method and entry.finished > 0 then
      return entry[name].trimmed,
        ("%d of %s"):format(entry[name].kept, counted(entry.planned, "run"))
    end
  end
end

return function(view)
  local theirs = EXPERIMENTS[view.sweep.experiment]
  if not theirs then
    return nil
  end
  local is_solved = theirs.measure == "solved"
  local digits = is_solved and 2 or 4
  local rope, rope_runs = own(view, "rope", theirs.measure)
  local roper, roper_runs = own(view, "roper", theirs.measure)
  local runs = rope_runs == roper_runs and (rope_runs or "no run")
    or ("%s; %s"):format(rope_runs or "no run", roper_runs or "no run")
  local config = view.sweep.trials[1].config
  local preset, problems = config.preset or "own", config.problems or 128
  local function row(name, a, b, setting)
    return { name, number.fixed(a, digits), number.fixed(b, digits),
      number.signed(a and b and b - a, digits), setting }
  end
  return {
    d.table { class = "published", sides = "lrrrl",
      caption = ("Compared with the RoPER study: %s"):format(
        is_solved and "correct of 128" or "final loss"),
      head = { "", "RoPE", "RoPER", "RoPER − RoPE", "runs" },
      rows = { row("published", theirs.rope, theirs.roper, "9 of 10 runs, " .. theirs.setting),
        row("this sweep", rope, roper, ("%s, preset %s%s"):format(runs, preset,
          is_solved and problems ~= 128 and (", correct of %d"):format(problems) or "")) } },
    d.paragraph({ "Published: Harik and Jayasiri 2022, mean of 9 of 10 sessions without the worst.",
      preset ~= "paper" and (" The preset %s is smaller than the study’s models: compare "
        .. "directions, not figures."):format(preset) }, "note"),
  }
end
