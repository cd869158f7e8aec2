--- Figure of attention with tokens that are dragged along a line: their keys and values as arrows,
--- the scores and weights of one query, and its output.
local name_of = require("roper.workbench.lesson.question").letter
local options_of = require "roper.options.rows"
local parts = require "roper.workbench.lesson.play.parts"
local places = require "roper.workbench.plot.svg.place"
local tables = require "roper.base.tables"
local h = require("roper.text.markup").h

local M = {}

local LAST_PLACE <const> = 24 -- last position that tokens can be dragged to

-- Labels of what is rotated: a letter q, k, v or o for each rotation, a capital for the opposite
-- direction.
local TURNS <const> = { [""] = "nothing", q = "only queries", qk = "RoPE", qkvo = "RoPER",
  qkv = "output not rotated back", qkvO = "output rotated forward",
  qkvvo = "values rotated twice", qkkvo = "keys rotated twice" }

-- By default, four tokens: nearer keys match better, and the values differ.
M.rows = options_of.define("LessonAttention", {
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

local function is_place(value)
  return math.type(value) == "integer" and value >= 0 and value <= LAST_PLACE
end

local function is_turn(value)
  return TURNS[value] ~= nil
end

M.lists = { query = { "numbers", math.type }, keys = parts.PAIRS, values = parts.PAIRS,
  positions = { "integers from 0 to " .. LAST_PLACE, is_place },
  turns = { "letters of what is rotated, such as qkvo", is_turn } }

--- The lengths that some lists must have.
function M.counts(o)
  local count = #(o.positions or {})
  return { query = 2, keys = count, values = count }
end

-- A token that can be dragged along the line.
local function token(i, place, count)
  return h.span { class = i == count and "token q" or "token k", role = "slider", tabindex = 0,
    ["aria-label"] = ("token %s%s"):format(name_of(i), i == count and ", the query" or ""),
    ["aria-valuemin"] = 0, ["aria-valuemax"] = LAST_PLACE, ["aria-valuenow"] = place,
    h.b { name_of(i) } }
end

local function turns_choice(list)
  return h.fieldset { h.legend { "What is rotated" }, h.div { tables.map(list, function(turns, i)
    return h.label { h.input { type = "radio", name = "turns", value = turns,
      checked = i == #list }, TURNS[turns] }
  end) } }
end

function M.draw(o)
  local count = #o.positions
  local keys, values, outputs, rows = { { "query", "q", false, "q" } }, {}, {}, {}
  for i = 1, count do
    keys[i + 1] = { "key" .. i, "k", false, name_of(i) }
    values[i] = { "value" .. i, "v", "thin", name_of(i) }
    outputs[i] = { "moved" .. i, "v", "thin", name_of(i) }
    values[count + i], outputs[count + i] = { "part" .. i, "v" }, { "back" .. i, "v" }
    rows[i] = h.tr { h.td { name_of(i) }, parts.number("position" .. i, 0),
      parts.number("distance" .. i, 0), parts.number("score" .. i, 3),
      parts.number("weight" .. i, 3),
      h.td { class = "bar", h.span { ["data-bar"] = "weight" .. i } } }
  end
  values[#values + 1] = { "sum", "o", "thin", "ô" }
  outputs[#outputs + 1] = { "output", "o", false, "o" }
  local last = name_of(count)
  return { parts.task "Drag one token away. Then move all of them together.",
    h.div { class = "track", role = "group", ["aria-label"] = "Tokens to drag",
      tables.map(o.positions, function(place, i) return token(i, place, count) end),
      tables.map({ 0, 0.25, 0.5, 0.75, 1 }, function(at)
        return h.span { class = "tick", style = "left:" .. places.percent(at),
          ("%d"):format(LAST_PLACE * at) }
      end) },
    parts.controls { parts.slider("first", "move all", { min = 0, max = LAST_PLACE,
      value = o.positions[1] }), turns_choice(o.turns) },
    parts.picture { parts.plane("Query and keys", parts.reach_of({ o.query }, o.keys), keys),
      o.has_output and {
        parts.plane("Weighted values, their sum ô", parts.reach_of(o.values), values),
        parts.plane("Output o", parts.reach_of(o.values), outputs, "ending") } },
    parts.controls { h.label { h.input { type = "checkbox", name = "causal", checked = true },
      "causal: ", last, " sees no later tokens" }, parts.motion_button() },
    parts.numbers_table({ "token", "position", "distance", "score", "weight", "" }, rows),
    o.has_output and h.p { class = "check", "Output of ", last, ": ", h.output { "(",
      parts.number("output_x", 3, h.span), ", ", parts.number("output_y", 3, h.span), ")" } } }
end

return M
