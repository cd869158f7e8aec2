--- Figure of the derivation of RoPER: a line of algebra that changes step by step, and beside it
--- the weighted values as arrows, which do the same. Without scripts, the lines are below each
--- other, each with its picture.
local core = require "roper.core"
local mathml = require "roper.text.formula.mathml"
local options_of = require "roper.options.rows"
local parts = require "roper.workbench.lesson.play.parts"
local public = require "roper.base.public"
local tables = require "roper.base.tables"
local h = require("roper.text.markup").h

local M = { style = "derivation.css", script = "derivation.mjs", is_whole = true }

local MARGIN <const>, HEAD <const> = 0.4, 0.35 -- around pictures; the length of heads

M.rows = options_of.define("LessonDerivation", {
  parent = "LessonPlay",
  { "values", "table", { { 3, 2 }, { 1, 3 }, { -1, 4 } }, "the values of the tokens at positions "
    .. "0, 1, ...; the last one is the query", type = "number[][]",
    shown = "{{3, 2}, {1, 3}, {-1, 4}}" },
  { "weights", "table", { 0.5, 0.3, 0.2 }, "the weight of each", type = "number[]",
    shown = "{0.5, 0.3, 0.2}" },
  { "degrees", "number", 45, "the angle per position" },
  { "farthest", "size", 4, "the last position at which the text can begin" },
})

M.lists = { values = parts.PAIRS, weights = { "numbers", function(value)
  return math.type(value) ~= nil
end } }

--- The lengths that some lists must have.
function M.counts(o)
  return { weights = #o.values }
end

-- The pieces of the lines. A piece with the same name in the next line moves to its place there;
-- `from` are the pieces that become this one.
local PIECES <const> = { rope = { "o_m" }, hat = { "ô_m" }, out = { "o_m" }, sum = { "Σ_n" },
  weight = { "a_{m,n}" }, value = { "v_n" }, forward = { "R_n" }, back = { "R_{-m}" },
  both = { "R_{n-m}", from = "back forward" } }

-- Each line: the name of its sum, its pieces, what it does to the arrows (whether they are rotated
-- forward and back), and words.
local LINES <const> = {
  { "rope", { "sum", "weight", "value" }, 0, 0,
    "RoPE: the weighted values, as they are, tip to tail. Their sum is the output." },
  { "hat", { "sum", "weight", "forward", "value" }, 1, 0,
    "RoPER rotates each value forward, by its own position." },
  { "out", { "back", "sum", "weight", "forward", "value" }, 1, 1,
    "The sum is rotated back, by the position of the query. This is RoPER's output." },
  { "out", { "sum", "weight", "back", "forward", "value" }, 1, 1,
    "Rotating a sum rotates each of its terms: now each value is rotated forward and back." },
  { "out", { "sum", "weight", "both", "value" }, 1, 1,
    "Two rotations of a value are one, by the distance: forward by n, back by m." },
}

local function piece(name)
  local formula = PIECES[name]
  return h.span { ["data-piece"] = name, ["data-from"] = formula.from,
    mathml.line(formula[1]) }
end

-- The arrows of a line, from the library: {x, y} of each value, rotated and weighted.
local function arrows_of(o, line)
  local roper, last = public.root, #o.values - 1
  local plane = roper.position.rope { dim = 2, frequencies = { math.rad(o.degrees) } }
  local list = {}
  for i, value in ipairs(o.values) do
    local by = line[3] * (i - 1) - line[4] * last
    local x, y = table.unpack(plane:rotate(roper.tensor(value, "float64"), by):totable())
    list[i] = { o.weights[i] * x, o.weights[i] * y }
  end
  return list
end

-- The room that the arrows take: {left, bottom, right, top}. If the text begins later, the sum that
-- is not rotated back can have any direction.
local function box_of(o)
  local round, box = 0, { 0, 0, 0, 0 }
  for i, line in ipairs { LINES[1], LINES[2] } do
    local x, y = 0, 0
    for _, arrow in ipairs(arrows_of(o, line)) do
      x, y = x + arrow[1], y + arrow[2]
      if i == 1 then
        box = { math.min(box[1], x), math.min(box[2], y), math.max(box[3], x), math.max(box[4], y) }
      else
        round = math.max(round, (x * x + y * y) ^ 0.5)
      end
    end
  end
  return { math.min(box[1], -round) - MARGIN, math.min(box[2], -round) - MARGIN,
    math.max(box[3], round) + MARGIN, math.max(box[4], round) + MARGIN }
end

-- The path of an arrow with a head, in a picture of which y grows downwards.
local function arrow_path(from, to, is_diamond)
  local dx, dy = to[1] - from[1], to[2] - from[2]
  local scale = HEAD / math.max((dx * dx + dy * dy) ^ 0.5, HEAD)
  local function point(back, aside)
    return ("%.2f %.2f"):format(to[1] - scale * (back * dx - aside * dy),
      -to[2] + scale * (back * dy + aside * dx))
  end
  return ("M%.2f %.2fL%sL%sL%sL%sL%s"):format(from[1], -from[2], point(0, 0), point(0.5, 0.3),
    point(is_diamond and 1 or 0.5, 0), point(0.5, -0.3), point(0, 0))
end

-- The picture of a line: the arrows tip to tail, and their sum.
local function picture(o, line)
  local at, paths, box = { 0, 0 }, {}, box_of(o)
  for i, arrow in ipairs(arrows_of(o, line)) do
    local tip = { at[1] + arrow[1], at[2] + arrow[2] }
    paths[i], at = arrow_path(at, tip, true), tip
  end
  return h.svg { class = "still", role = "img",
    viewBox = ("%.1f %.1f %.1f %.1f"):format(box[1], -box[4], box[3] - box[1], box[4] - box[2]),
    ["aria-label"] = ("The sum ends at %.2f, %.2f."):format(at[1], at[2]),
    h.path { class = "v", d = table.concat(paths) },
    h.path { class = "o", d = arrow_path({ 0, 0 }, at) } }
end

local function item(o, line)
  return h.li { h.p { class = "algebra", piece(line[1]), h.span { ["data-piece"] = "equals", "=" },
    tables.map(line[2], piece) }, h.p { class = "words", line[5] }, picture(o, line) }
end

-- A row for a token: its angle forward, back and together.
local function row(number)
  return h.tr { h.th { scope = "row", ("token %d"):format(number) }, h.td {}, h.td {}, h.td {} }
end

function M.draw(o)
  local rows = tables.map(o.values, function(_, i) return row(i - 1) end)
  return { parts.task "Go from line to line. What does each do to the arrows?",
    parts.controls { hidden = true, class = "main live",
      h.button { type = "button", class = "back", "← Line" },
      h.label { h.input { type = "range", name = "line", min = 0, max = #LINES - 1, step = 0.01,
        value = 0, ["aria-label"] = "Line of the derivation" } },
      h.button { type = "button", class = "next", "Next line →" } },
    h.ol { class = "lines", tables.map(LINES, function(line) return item(o, line) end) },
    h.div { class = "pic stage live", hidden = true, ["data-box"] = core.json_encode(box_of(o)),
      h.svg { ["aria-hidden"] = "true" } },
    h.div { class = "live", hidden = true,
      parts.controls { parts.slider("first", "the text begins at", { min = 0, max = o.farthest,
        value = 0 }), parts.motion_button() },
      parts.numbers_table({ "rotated", "forward", "back", "together" }, rows),
      h.p { class = "total" }, h.p { class = "say", role = "status" } } }
end

return M
