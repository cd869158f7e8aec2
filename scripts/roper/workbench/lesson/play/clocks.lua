--- Figure of the pairs of a head as hands of clocks, and under them the score of a query and a key
--- by their distance, drawn as the hands turn. Its data are the pairs of heads: {{"words for the
--- head", {{length, angle}, ...}}, ...}, where the length is the product of those of query and key,
--- and the angle is from the query to the key at distance 0, in radians.
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

-- A query and a key of ones: each of their pairs has the length √2.
local function ones(count)
  local list = {}
  for t = 1, count do
    list[t] = { 2, 0 }
  end
  return { "vectors of ones", list }
end

-- Checks that hands at all distances add up to the scores of the library.
local function check(list, farthest)
  local roper, features = public.root, {}
  local rope = roper.position.rope { dim = 2 * #list, pairing = "interleaved" }
  local thetas = rope:thetas():totable()
  for t, pair in ipairs(list) do
    features[2 * t - 1] = pair[1] * math.cos(pair[2])
    features[2 * t] = pair[1] * math.sin(pair[2])
  end
  local key = roper.tensor({ features }, "float64")
  local query = roper.tensor({ 1, 0 }, "float64"):expand { #list, 2 }:contiguous()
    :view { 1, 2 * #list }
  for p = 0, farthest do
    local score = 0
    for t, pair in ipairs(list) do
      score = score + pair[1] * math.cos(pair[2] - p * thetas[t])
    end
    local off = math.abs(score - (rope:rotate(query, p) * key):sum():item())
    assert(off < OFF, ("clocks: the score at distance %d is off by %g"):format(p, off))
  end
end

function M.draw(o, data)
  local heads = {}
  for i, head in ipairs(data or {}) do
    local name, list = table.unpack(head)
    if type(name) ~= "string" or type(list) ~= "table" or #list ~= o.pairs then
      error(("clocks: data %d: expected {words, a list of %d pairs}"):format(i, o.pairs), 0)
    end
    heads[i] = head
  end
  heads[#heads + 1] = ones(o.pairs)
  for _, head in ipairs(heads) do
    check(head[2], o.farthest)
  end
  return { parts.task "Move the query away from the key: each pair turns at its own speed.",
    parts.controls { parts.slider("distance", "distance", { min = 0, max = o.farthest,
      value = 0 }), parts.motion_button() },
    h.div { class = "pic stage", ["data-heads"] = core.json_encode(tables.map(heads,
      function(head) return head[2] end)),
      h.svg { ["aria-hidden"] = "true" } },
    h.p { class = "total", "score ", h.span { class = "gauge", h.i { class = "now" } }, " ",
      h.b { class = "score" }, h.span { class = "note limit" } },
    h.p { class = "say", role = "status" },
    parts.controls { parts.base_slider(), parts.slider("fraction", "fraction", { min = 0, max = 1,
        step = 1 / o.pairs, value = 1, digits = 3 }),
      h.fieldset { hidden = not heads[2], h.legend { "Query and key" },
        h.div { tables.map(heads, function(head, i)
          return h.label { h.input { type = "radio", name = "head", value = i - 1,
            checked = i == 1 }, head[1] }
        end) } } } }
end

return M
