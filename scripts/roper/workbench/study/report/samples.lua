--- Answers that were sampled, right and wrong, a few of each method.
local h = require("roper.base.markup").h
local curve = require "roper.workbench.study.report.curve"
local base_tables = require "roper.base.tables"
local number = require "roper.workbench.study.report.number"
local tables = require "roper.workbench.study.report.table"

-- Of each method, so many right and so many wrong.
local MOST <const> = 3

-- Of a longer question the end is shown.
local MOST_QUESTION <const> = 160

local function ending(text)
  return #text > MOST_QUESTION and "…" .. text:sub(-MOST_QUESTION) or text
end

-- A given answer, marked from where it leaves the right one.
local function marked(text, answer)
  local same = 0
  while same < #text and text:byte(same + 1) == answer:byte(same + 1) do
    same = same + 1
  end
  return { text:sub(1, same), h.mark { same < #text and text:sub(same + 1) or "(ends here)" } }
end

local function entry(sample)
  local question, answer = tostring(sample.question), tostring(sample.answer)
  local text = tostring(sample.text)
  return h.div { class = "sample",
    h.p { h.code { ending(question) } },
    h.p { h.span { class = "verdict", sample.solved and "✓ right" or "✗ wrong" },
      h.code { sample.solved and text or marked(text, answer) } },
    not sample.solved and h.p { h.span { class = "verdict", "expected" }, h.code { answer } },
  }
end

-- What the first run of a method that wrote anything wrote.
local function written_by(view, method)
  for _, trial in ipairs(view.sweep.trials) do
    local list = trial.run.samples and trial.run.samples.written
    if trial.method == method and list and #list > 0 then
      return { h.h3 { tables.name(view, method) },
        h.p { class = "note", h.bdi { curve.label(trial) },
          ": beginnings of validation rows, and what it wrote after them." },
        base_tables.map(list, function(sample)
          return h.div { class = "sample", h.p { h.code { sample.prompt, h.b { sample.text } } } }
        end) }
    end
  end
end

-- Samples of the first run of a method that has any.
local function of_method(view, method)
  for _, trial in ipairs(view.sweep.trials) do
    local list = trial.run.samples and trial.run.samples.sampled
    if trial.method == method and list and #list > 0 then
      local right, wrong, solved = {}, {}, 0
      for _, sample in ipairs(list) do
        local group = sample.solved and right or wrong
        solved = solved + (sample.solved and 1 or 0)
        group[#group + 1] = #group < MOST and entry(sample) or nil
      end
      return { h.h3 { tables.name(view, method) },
        h.p { class = "note", h.bdi { curve.label(trial) }, (": %d of %s right."):format(solved,
          number.count(#list, "sampled answer")) }, right, wrong }
    end
  end
end

return function(view)
  local nodes = {}
  for _, method in ipairs(view.sweep.methods) do
    nodes[#nodes + 1] = of_method(view, method)
    nodes[#nodes + 1] = written_by(view, method)
  end
  return #nodes > 0 and nodes or nil
end
