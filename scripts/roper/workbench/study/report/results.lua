--- The study's table, beside what was published, and all that limits what it says.
local h = require("roper.base.markup").h
local number = require "roper.workbench.study.report.number"
local published = require "roper.workbench.study.report.published"
local tables = require "roper.workbench.study.report.table"
local text = require "roper.workbench.study.report.text"

-- The median of steps to 90 %, and how many got there.
local function steps_cells(censored)
  if not censored then
    return number.NONE, number.NONE
  end
  return text.median_of_steps(censored), ("%d of %d"):format(censored.reached, censored.n)
end

-- The table of runs on text alone: a row a method.
local function text_table(view)
  local rows = {}
  for i, m in ipairs(view.summary.methods) do
    rows[i] = { tables.name(view, m.method), ("%d of %d"):format(m.finished, m.planned),
      number.fixed(m.loss.mean, 4), number.fixed(m.loss.error, 4),
      number.fixed(m.perplexity.mean, 2), number.fixed(m.bits_per_byte.mean, 4),
      number.fixed(m.bits_per_byte.error, 4) }
  end
  return { tables.of { class = "study", caption = "Validation", rows = rows,
    head = { "method", "runs finished", "loss", "± s.e.", "perplexity", "bits per byte",
      "± s.e." } },
    h.p { class = "note", "Means over the finished runs, on documents that none was trained on. ",
      "The loss is in nats per token; bits per byte compare vocabularies." } }
end

-- The study's table: a row a method.
local function main_table(view)
  if not view.summary.on.problems then
    return text_table(view)
  end
  local problems, rows = nil, {}
  for i, m in ipairs(view.summary.methods) do
    local solved, loss = m.solved, m.loss
    local steps, reached = steps_cells(m.steps_to_90)
    local result = m.runs[1] and m.runs[1].result or {}
    problems = problems or result.problems
    rows[i] = { tables.name(view, m.method), ("%d of %d"):format(m.finished, m.planned),
      number.fixed(solved.mean, 1), number.fixed(solved.error, 1),
      number.fixed(solved.trimmed, 1), number.fixed(loss.mean, 4), number.fixed(loss.error, 4),
      number.fixed(result.test_floor, 4), steps, reached }
  end
  return { tables.of { class = "study", caption = "The study’s table",
    head = { "method", "runs finished", ("correct of %s"):format(problems or number.NONE),
      "± s.e.", "study’s mean", "loss", "± s.e.", "floor", "median steps to 90 %", "reached" },
    rows = rows },
    h.p { class = "note", "Means over the finished runs; the study’s mean is of the runs without ",
      "the worst of ten. The floor is the lowest loss to be expected on the test sequences." } }
end

-- This sweep's figure for a method by the study's rule.
local function own(view, method, field)
  for _, m in ipairs(view.summary.methods) do
    if m.method == method and m.finished > 0 then
      return m[field].trimmed, ("%d of %s"):format(m[field].kept, number.count(m.planned, "run"))
    end
  end
end

-- What was published for this experiment, and the same of this sweep.
local function published_table(view)
  local theirs = published.experiments[view.sweep.experiment]
  if not theirs then
    return false
  end
  local digits = theirs.metric == "solved" and 2 or 4
  local rope, rope_runs = own(view, "rope", theirs.metric)
  local roper, roper_runs = own(view, "roper", theirs.metric)
  local runs = rope_runs == roper_runs and rope_runs
    or ("%s; %s"):format(rope_runs or "no run", roper_runs or "no run")
  local config = view.sweep.trials[1].config
  local preset, problems = config.preset or "own", config.problems or 128
  return {
    tables.of { class = "published", left = { [5] = true },
      caption = ("Beside the RoPER study: %s"):format(
        theirs.metric == "solved" and "correct of 128" or "final loss"),
      head = { "", "RoPE", "RoPER", "RoPER − RoPE", "of" },
      rows = {
        { "published", number.fixed(theirs.rope, digits), number.fixed(theirs.roper, digits),
          number.signed(theirs.roper - theirs.rope, digits), "9 of 10 runs, " .. theirs.setting },
        { "this sweep", number.fixed(rope, digits), number.fixed(roper, digits),
          number.signed(rope and roper and roper - rope, digits),
          ("%s, preset %s%s"):format(runs or "no run", preset, theirs.metric == "solved"
            and problems ~= 128 and (", correct of %d"):format(problems) or "") },
      } },
    h.p { class = "note", "Published: ", published.source, ".",
      preset ~= "paper" and (" The preset %s is not the study’s size; compare directions, not "
        .. "figures."):format(preset) or "" },
  }
end

return function(view)
  local notes = {}
  for i, note in ipairs(view.summary.notes) do
    notes[i] = h.li { note }
  end
  return {
    h.p { class = "result", require("roper.workbench.study.report.headline").of(view.summary) },
    h.p { class = "status", text.status(view.sweep) .. "." },
    #notes > 0 and h.ul { class = "notes", notes },
    main_table(view),
    published_table(view),
  }
end
