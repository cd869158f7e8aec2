--- Samples of each method: answers to problems, right and wrong, and generated text.
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local d = require "roper.text.document"
local h = require("roper.text.markup").h
local tables = require "roper.base.tables"

-- Maximum number of right answers, and of wrong ones, for each method.
local MOST <const> = 3

-- Maximum number of characters of a question; of a longer one, only the end is shown.
local MOST_QUESTION <const> = 160

local function ending(text)
  return #text > MOST_QUESTION and "…" .. text:sub(-MOST_QUESTION) or text
end

-- Marks a wrong answer from its first wrong character.
local function marked(text, answer)
  local same = 0
  while same < #text and text:byte(same + 1) == answer:byte(same + 1) do
    same = same + 1
  end
  return { text:sub(1, same), h.mark { same < #text and text:sub(same + 1) or "(ends here)" } }
end

local function answered(sample)
  return h.div { class = "sample",
    h.p { h.code { ending(sample.question) } },
    h.p { h.span { class = "verdict", sample.solved and "✓ right" or "✗ wrong" },
      h.code { sample.solved and sample.text or marked(sample.text, sample.answer) } },
    not sample.solved
      and h.p { h.span { class = "verdict", "expected" }, h.code { sample.answer } },
  }
end

-- Some right and some wrong answers, and their description.
local function answers(list)
  local right, wrong, solved = {}, {}, 0
  for _, sample in ipairs(list) do
    local group = sample.solved and right or wrong
    solved = solved + (sample.solved and 1 or 0)
    group[#group + 1] = #group < MOST and answered(sample) or nil
  end
  return { right, wrong },
    (": %d of %s right."):format(solved, counted(#list, "sampled answer"))
end

-- Prompts and their continuations, and their description.
local function texts(list)
  return tables.map(list, function(sample)
    return h.div { class = "sample", h.p { h.code { sample.prompt, h.b { sample.text } } } }
  end), ": beginnings of validation rows, continued by the model in bold."
end

-- The samples of one kind of the first run of a method that has them.
local function of_method(sweep, method, kind, render)
  for _, trial in ipairs(sweep.trials) do
    local list = trial.run.samples and trial.run.samples[kind]
    if trial.method == method and list and #list > 0 then
      local nodes, description = render(list)
      return { d.heading(curve.name(sweep, method), 3),
        d.paragraph({ d.styled("name", curve.label(trial)), description }, "note"), nodes }
    end
  end
  return nil
end

return function(view)
  local nodes = {}
  for _, method in ipairs(view.sweep.methods) do
    nodes[#nodes + 1] = of_method(view.sweep, method, "sampled", answers)
    nodes[#nodes + 1] = of_method(view.sweep, method, "written", texts)
  end
  return #nodes > 0 and nodes or nil
end
