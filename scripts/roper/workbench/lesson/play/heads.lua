--- Figure of the heads of models during training: the weights of each head by distance, before and
--- after. Its data: `methods`, their names; `every`, the steps between two states; `weights`, for
--- each method the states, for each state the heads, and for each head the weights at the distances
--- 0, 1, ... in thousandths.
local options_of = require "roper.options.rows"
local parts = require "roper.workbench.lesson.play.parts"
local h = require("roper.text.markup").h

local M = { style = "heads.css", script = "heads.mjs" }

M.rows = options_of.define("LessonHeads", { parent = "LessonPlay" })

M.lists = {}

-- Raises an error unless all methods have the same number of states, of heads and of distances.
local function check(data)
  local function fail(expected)
    error("heads: data: expected " .. expected, 0)
  end
  if type(data) ~= "table" or type(data.methods) ~= "table" or type(data.weights) ~= "table"
    or not math.tointeger(data.every) or #data.methods == 0 or #data.methods ~= #data.weights then
    fail "methods, every and weights, with an entry for each method"
  end
  local count, heads, distances = #data.weights[1], nil, nil
  for _, states in ipairs(data.weights) do
    for _, state in ipairs(states) do
      for _, head in ipairs(state) do
        heads, distances = heads or #state, distances or #head
        if #states ~= count or #state ~= heads or #head ~= distances then
          fail "as many states, heads and distances for each method"
        end
      end
    end
  end
  if count < 2 or not heads then
    fail "two or more states of one or more heads"
  end
end

local function row(method, head)
  return h.tr { h.th { scope = "row", ("%s, head %d"):format(method, head) }, h.td {},
    h.td { class = "bar", h.span {} }, h.td {} }
end

function M.draw(_, data)
  check(data)
  local last, rows = #data.weights[1] - 1, {}
  for _, method in ipairs(data.methods) do
    for head = 1, #data.weights[1][1] do
      rows[#rows + 1] = row(method, head)
    end
  end
  return { parts.task "Go through the training. At which distances do the heads look?",
    parts.controls { parts.slider("state", "step", { min = 0, max = last, step = 0.05, value = 0 }),
      parts.motion_button() },
    h.div { class = "pic stage", h.svg { ["aria-hidden"] = "true" } },
    h.p { class = "say", role = "status" },
    parts.numbers_table({ "head", "most at distance", "", "weight" }, rows) }
end

return M
