--- Figure of the pairs of a head as hands of clocks, and under them the score of a query and a key
--- by their distance, drawn as the hands turn.
local core = require "roper.core"
local markup = require "roper.text.markup"
local options_of = require "roper.options.rows"
local parts = require "roper.workbench.lesson.play.parts"
local public = require "roper.base.public"
local tables = require "roper.base.tables"
local h = markup.h

local M = { style = "clocks.css", script = "clocks.mjs" }

local PAIR_COUNTS <const> = { smallest = 16, largest = 64 } -- clocks that fit into a picture
local OFF <const> = 1e-9 -- largest error of a score

M.rows = options_of.define("LessonClocks", {
  parent = "LessonPlay",
  { "pairs", PAIR_COUNTS, 32, "half the features of the query and of the key", type = "integer" },
  { "farthest", "size", 200, "largest distance" },
})

M.lists = {}

-- A query and a key: words for them, and functions that return their features.
local HEADS <const> = {
  { "vectors of ones", function(roper, dim)
    return roper.ones({ 1, dim }, "float64"), roper.ones({ 1, dim }, "float64")
  end },
  { "random vectors", function(roper, dim)
    core.seed(1)
    return roper.randn({ 1, dim }, "float64"), roper.randn({ 1, dim }, "float64")
  end },
}

-- The pairs of a query and a key: {product of the lengths, angle from the query to the key}.
local function pairs_of(query, key, count)
  local list = {}
  local q, k = query:totable()[1], key:totable()[1]
  for t = 1, count do
    local a, b, c, d = q[2 * t - 1], q[2 * t], k[2 * t - 1], k[2 * t]
    list[t] = { (a * a + b * b) ^ 0.5 * (c * c + d * d) ^ 0.5,
      math.atan(a * d - b * c, a * c + b * d) }
  end
  return list
end

-- Checks that the hands give the scores of the library at all distances.
local function check(roper, query, key, list, farthest)
  local rope = roper.position.rope { dim = 2 * #list, pairing = "interleaved" }
  local thetas = rope:thetas():totable()
  for p = 0, farthest do
    local score = 0
    for t, pair in ipairs(list) do
      score = score + pair[1] * math.cos(pair[2] - p * thetas[t])
    end
    local off = math.abs(score - (rope:rotate(query, p) * key):sum():item())
    assert(off < OFF, ("clocks: the score at distance %d is off by %g"):format(p, off))
  end
end

local function heads_of(o)
  local roper = public.root
  return tables.map(HEADS, function(head)
    local query, key = head[2](roper, 2 * o.pairs)
    local list = pairs_of(query, key, o.pairs)
    check(roper, query, key, list, o.farthest)
    return list
  end)
end

function M.draw(o)
  return { parts.task "Move the query away from the key: each pair turns at its own speed.",
    parts.controls { parts.slider("distance", "distance", { min = 0, max = o.farthest,
      value = 0 }), parts.motion_button() },
    h.div { class = "pic stage", ["data-heads"] = core.json_encode(heads_of(o)),
      h.svg { ["aria-hidden"] = "true" } },
    h.p { class = "total", "score ", h.span { class = "gauge", h.i { class = "now" } }, " ",
      h.b { class = "score" }, h.span { class = "note limit" } },
    h.p { class = "say", role = "status" },
    parts.controls { parts.base_slider(), parts.slider("fraction", "fraction", { min = 0, max = 1,
        step = 1 / o.pairs, value = 1, digits = 3 }),
      h.fieldset { h.legend { "Query and key" }, h.div { tables.map(HEADS, function(head, i)
        return h.label { h.input { type = "radio", name = "head", value = i - 1,
          checked = i == 1 }, head[1] }
      end) } } } }
end

return M
