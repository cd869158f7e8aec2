--- HTML of the interactive figures on pages: their controls and drawings. The script play.js
--- computes the numbers; without it, pages show the static picture of the step instead.
---
--- Elements that show a number, an arrow or a curve have its name in `data-show`; labels at the
--- tips of arrows have it in `data-tip`.
local axes = require "roper.workbench.plot.axis"
local core = require "roper.core"
local marks = require "roper.workbench.plot.svg.mark"
local markup = require "roper.text.markup"
local name_of = require("roper.workbench.lesson.question").letter
local options_of = require "roper.options.rows"
local places = require "roper.workbench.plot.svg.place"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local PAIR_COUNTS <const> = { smallest = 16, largest = 512 } -- for a curve of scores
local LAST_PLACE <const> = 24 -- last position that tokens can be dragged to
local MARGIN <const> = 1.25 -- size of a plane relative to its longest arrow, for tip labels

-- Labels of what is rotated: a letter q, k, v or o for each rotation, a capital for the opposite
-- direction.
local TURNS <const> = { [""] = "nothing", q = "only queries", qk = "RoPE", qkvo = "RoPER",
  qkv = "output not rotated back", qkvO = "output rotated forward",
  qkvvo = "values rotated twice", qkkvo = "keys rotated twice" }

local function slider(name, label, o)
  return h.label { h.span { label }, h.input { type = "range", name = name, min = o.min,
    max = o.max, step = o.step or 1, value = o.value, ["data-log"] = o.log,
    ["aria-label"] = label }, h.output { ["data-show"] = name, ["data-digits"] = o.digits or 0 } }
end

local function controls(list)
  return h.form { autocomplete = "off", list }
end

local function motion_button()
  return h.button { type = "button", class = "motion", "Play the motion" }
end

local function base_slider() -- 10^1 to 10^6
  return slider("base", "base", { min = 1, max = 6, step = 0.125, value = 4.0, log = true })
end

local function number(name, digits, cell)
  return (cell or h.td) { ["data-show"] = name, ["data-digits"] = digits }
end

local function numbers_table(head, rows)
  return h.div { class = "scroll", h.table { h.tr { tables.map(head, function(text)
    return h.th { text }
  end) }, rows } }
end

-- A coordinate plane from -reach to reach. An arrow is {name, class, label}.
local function plane(title, reach, arrows)
  local paths, tips = {}, {}
  for i, arrow in ipairs(arrows) do
    paths[i] = h.path { class = "line " .. arrow[2], ["data-show"] = arrow[1],
      d = "M0 0H1M.87-.06L1 0L.87 .06" }
    tips[i] = arrow[3] and h.svg { class = "tip", ["data-tip"] = arrow[1],
      h.text { ["text-anchor"] = "middle", dy = ".35em", arrow[3] } }
  end
  return h.div { h.p { class = "check", title }, h.svg { class = "chart plane", role = "img",
    ["aria-label"] = title, ["data-reach"] = reach,
    h.svg { viewBox = ("%g %g %g %g"):format(-reach, -reach, 2 * reach, 2 * reach),
      h.g { transform = "scale(1 -1)", h.path { class = "grid", d = ("M%g 0H%gM0 %gV%g")
        :format(-reach, reach, -reach, reach) }, h.circle { class = "grid", r = reach / MARGIN },
        paths } }, tips } }
end

-- The reach of a plane for the longest of some pairs and the label at its tip.
local function reach_of(...)
  local reach = 0
  for _, list in ipairs { ... } do
    for _, pair in ipairs(list) do
      reach = math.max(reach, MARGIN * (pair[1] ^ 2 + pair[2] ^ 2) ^ 0.5)
    end
  end
  return reach
end

-- Rotating arrows, one for each pair. Several are labeled by their index t, from 0.
local function rotation(o)
  local count, head = #o.vectors, { "θ", "m θ", "degrees", "x′", "y′" }
  local arrows, rows = {}, {}
  for i = 1, count do
    local color, t = marks.class(i), count > 1 and tostring(i - 1)
    arrows[i] = { "start" .. i, color .. " thin" }
    arrows[count + i] = { "arrow" .. i, color, t }
    rows[i] = h.tr { t and h.td { class = color, t }, number("theta" .. i, 4),
      number("turn" .. i, 3), number("degrees" .. i, 0), number("x" .. i, 3),
      number("y" .. i, 3) }
  end
  if count > 1 then
    table.insert(head, 1, "t")
  end
  return { h.div { class = "planes", plane("Rotated by position", reach_of(o.vectors), arrows) },
    controls { slider("position", "position m", { min = 0, max = o.farthest, value = o.position }),
      count > 1 and base_slider()
        or slider("theta", "frequency θ", { min = 0, max = 1, step = 0.05, value = 1,
          digits = 2 }), motion_button() },
    numbers_table(head, rows) }
end

-- A chart of the score of two vectors of ones by distance: a curve, and a point on it. PAIR_COUNTS
-- begins at 16 because with fewer pairs, the score could fall below the axis.
local function distance(o)
  local function axis(low, high)
    return axes.new({ { low, high } }, { range = { low, high } })
  end
  return { svg.fluid { kind = "curves", title = "score by distance", xlabel = "distance",
    ylabel = "score", x = axis(0, o.farthest), y = axis(-o.pairs, 2 * o.pairs), series = {
      { index = 1, x = { 0, o.farthest }, y = { 0, 0 }, show = "curve" },
      { index = 2, x = { 0 }, y = { 0 }, show = "point" } } },
    controls { slider("distance", "distance", { min = 0, max = o.farthest, value = 20 }),
      base_slider(), slider("fraction", "fraction", { min = 0, max = 1,
        step = 1 / o.pairs, value = 1, digits = 3 }) },
    h.p { class = "check", "The score at distance ", number("distance", 0, h.b), ": ",
      h.output { ["data-show"] = "score" } } }
end

-- A token that can be dragged along the line.
local function token(i, place, count)
  return h.span { class = "token " .. marks.class(i), role = "slider", tabindex = 0,
    ["aria-label"] = ("token %s%s"):format(name_of(i), i == count and ", the query" or ""),
    ["aria-valuemin"] = 0, ["aria-valuemax"] = LAST_PLACE, ["aria-valuenow"] = place,
    h.b { name_of(i) } }
end

local function turns_choice(list)
  return h.fieldset { h.legend { "Rotation" }, tables.map(list, function(turns, i)
    return h.label { h.input { type = "radio", name = "turns", value = turns,
      checked = i == #list }, " ", TURNS[turns] }
  end) }
end

local function attention(o)
  local count = #o.positions
  local keys, values, outputs, rows = { { "query", "own", "q" } }, {}, {}, {}
  for i = 1, count do
    local color = marks.class(i)
    keys[i + 1] = { "key" .. i, color, name_of(i) }
    values[i] = { "value" .. i, color .. " thin", name_of(i) }
    outputs[i] = { "moved" .. i, color .. " thin", name_of(i) }
    values[count + i], outputs[count + i] = { "part" .. i, color }, { "back" .. i, color }
    rows[i] = h.tr { h.td { class = color, name_of(i) }, number("position" .. i, 0),
      number("distance" .. i, 0), number("score" .. i, 3), number("weight" .. i, 3) }
  end
  values[#values + 1] = { "sum", "own", "ô" }
  outputs[#outputs + 1] = { "output", "own", "o" }
  local last = name_of(count)
  return { h.div { class = "track", role = "group", ["aria-label"] = "Tokens to drag",
      tables.map(o.positions, function(place, i) return token(i, place, count) end),
      tables.map({ 0, 0.25, 0.5, 0.75, 1 }, function(at)
        return h.span { class = "tick", style = "left:" .. places.percent(at),
          ("%d"):format(LAST_PLACE * at) }
      end) },
    controls { slider("first", "move all", { min = 0, max = LAST_PLACE, value = o.positions[1] }),
      turns_choice(o.turns),
      h.label { h.input { type = "checkbox", name = "causal", checked = true }, " causal: ", last,
        " sees no later tokens" }, motion_button() },
    h.div { class = "planes",
      plane("Query and keys", reach_of({ o.query }, o.keys), keys),
      o.has_output and { plane("Weighted values, their sum ô", reach_of(o.values), values),
        plane("Rotated back: output o", reach_of(o.values), outputs) } },
    numbers_table({ "token", "position", "distance", "score", "weight" }, rows),
    o.has_output and h.p { class = "check", "Output of ", last, ": ", h.output { "(",
      number("output_x", 3, h.span), ", ", number("output_y", 3, h.span), ")" } } }
end

local function is_pair(value)
  return type(value) == "table" and #value == 2 and math.type(value[1]) and math.type(value[2])
end

local function is_place(value)
  return math.type(value) == "integer" and value >= 0 and value <= LAST_PLACE
end

local function is_turn(value)
  return TURNS[value] ~= nil
end

options_of.define("LessonPlay", {
  { "kind", { "rotation", "distance", "attention" } },
  { "caption", "string", nil, "what to try and what to look for" },
})

local ROTATION <const> = options_of.define("LessonRotation", {
  parent = "LessonPlay",
  { "vectors", "table", nil, "the pairs that are rotated. The frequency of a single pair can be "
    .. "set, those of several follow from a base", type = "number[][]" },
  { "position", "size", 1, "initial position" },
  { "farthest", "size", 100, "largest position" },
})

local DISTANCE <const> = options_of.define("LessonDistance", {
  parent = "LessonPlay",
  { "pairs", PAIR_COUNTS, 32, "half the features of the two vectors of ones", type = "integer" },
  { "farthest", "size", 200, "largest distance" },
})

-- By default, four tokens: nearer keys match better, and the values differ.
local ATTENTION <const> = options_of.define("LessonAttention", {
  parent = "LessonPlay",
  { "positions", "table", { 3, 8, 12, 17 }, "initial positions of the tokens, from 0 to "
    .. LAST_PLACE .. "; the last token is the query", type = "integer[]",
    shown = "{3, 8, 12, 17}" },
  { "theta", "number", 0.15, "frequency of the pair in radians per position" },
  { "query", "table", { 2.2, 0.8 }, "a pair", type = "number[]", shown = "{2.2, 0.8}" },
  { "keys", "table", { { 0.9, 1.5 }, { 1.2, 1.2 }, { 1.3, 1 }, { -0.1, 1.7 } },
    "a pair per token", type = "number[][]", shown = "those of four tokens" },
  { "values", "table", { { -0.9, 0.3 }, { 0.9, 0.4 }, { 0.2, 1 }, { 0.8, -0.5 } },
    "a pair per token", type = "number[][]", shown = "those of four tokens" },
  { "has_output", "boolean", true, "also show values and output" },
  { "turns", "table", { "", "qk", "qkvo" }, "the choices of what is rotated, with the letters of a "
    .. "scheme's rotate; a letter twice to rotate twice, a capital to rotate in the opposite "
    .. "direction; the last is the initial choice", type = "string[]",
    shown = '{"", "qk", "qkvo"}' },
})

local PAIRS <const> = { "pairs of numbers", is_pair }

-- For each kind: its options, the rules for their lists, and its function.
local KINDS <const> = {
  rotation = { rows = ROTATION, lists = { vectors = PAIRS }, draw = rotation },
  distance = { rows = DISTANCE, lists = {}, draw = distance },
  attention = { rows = ATTENTION, draw = attention,
    lists = { query = { "numbers", math.type }, keys = PAIRS, values = PAIRS,
      positions = { "integers from 0 to " .. LAST_PLACE, is_place },
      turns = { "letters of what is rotated, such as qkvo", is_turn } } },
}

-- Checks that every entry of a list fits, and that there are `count` of them if it is given.
local function check_list(where, list, rule, count)
  local expected, fits = table.unpack(rule)
  if #list ~= math.max(count or #list, 1) then
    error(("%s: expected %s %s, got %d"):format(where, count or "1 or more", expected, #list), 0)
  end
  for i, entry in ipairs(list) do
    if not fits(entry) then
      error(("%s: expected %s, got %s at index %d"):format(where, expected,
        options_of.shown(entry), i), 0)
    end
  end
end

--- Checks the options of an interactive figure.
---
--- Errors: an unknown kind or option; a value of the wrong type; a list of the wrong length.
---@param where string names the figure in messages
function M.check(where, given)
  local refusal = options_of.refusal(tables.keys(KINDS), given.kind)
  if refusal then
    error(("%s: option kind: %s"):format(where, refusal), 2)
  end
  local kind = KINDS[given.kind]
  local play = options_of.check(where, given, kind.rows)
  local counts = { query = 2, keys = #(play.positions or {}), values = #(play.positions or {}) }
  for _, name in ipairs(tables.keys(kind.lists)) do
    if play[name] then
      check_list(("%s: option %s"):format(where, name), play[name], kind.lists[name], counts[name])
    end
  end
  return play
end

--- An interactive figure. It is hidden until its script runs.
---@param caption any the caption as page nodes
function M.figure(play, caption)
  return h.figure { class = "play", hidden = true, ["data-play"] = core.json_encode(play),
    KINDS[play.kind].draw(play), h.figcaption { caption } }
end

--- The style and the script that pages with interactive figures need.
---@return any style
---@return any script
function M.assets()
  return { svg.style(), markup.asset "workbench/lesson/play.css" },
    h.script { markup.asset "workbench/lesson/play.js" }
end

return M
