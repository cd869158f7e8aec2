--- Parts of interactive figures: controls, tables of numbers, planes with arrows.
---
--- Elements that show a number, a text, an arrow or a curve have its name in `data-show`; labels at
--- the tips of arrows have it in `data-tip`, and bars for numbers from 0 to 1 in `data-bar`.
local markup = require "roper.text.markup"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local MARGIN <const> = 1.25 -- size of a plane relative to its longest arrow, for tip labels

options_of.define("LessonPlay", {
  { "kind", { "attention", "clocks", "derivation", "heads", "rotation",
    "sentence" } },
  { "caption", "string", nil, "what to try and what to look for" },
  { "beside", "boolean", false, "show it in addition to the picture, not in its place" },
  { "data", "string?", nil, "a Lua expression of the step's variables with what the figure shows; "
    .. "a page evaluates it again after the code of the step has run" },
})

-- Paths of arrows of length 1. As in all pictures, quantities differ in their heads too.
local ARROWS <const> = { q = "M0 0H.86M.86-.07L1 0L.86 .07Z", k = "M0 0H1M.87-.06L1 0L.87 .06",
  v = "M0 0H.84M.84 0L.92-.06L1 0L.92 .06Z", o = "M0 0H.8M.8-.1L1 0L.8 .1Z" }

local function is_pair(value)
  return type(value) == "table" and #value == 2 and math.type(value[1]) and math.type(value[2])
end

--- What the entries of a list of pairs must be, and the predicate.
M.PAIRS = { "pairs of numbers", is_pair }

--- What to do, in one sentence.
function M.task(text)
  return h.p { class = "do", text }
end

function M.slider(name, label, o)
  return h.label { h.span { label }, h.input { type = "range", name = name, min = o.min,
    max = o.max, step = o.step or 1, value = o.value, ["data-log"] = o.log,
    ["aria-label"] = label }, h.output { ["data-show"] = name, ["data-digits"] = o.digits or 0 } }
end

--- A slider for the base of frequencies, from 10 to a million.
function M.base_slider()
  return M.slider("base", "base", { min = 1, max = 6, step = 0.125, value = 4.0, log = true })
end

--- A form; `list` can have attributes, too.
function M.controls(list)
  list.autocomplete = "off"
  return h.form(list)
end

function M.motion_button()
  return h.button { type = "button", class = "motion", "Play the motion" }
end

function M.number(name, digits, cell)
  return (cell or h.td) { ["data-show"] = name, ["data-digits"] = digits }
end

function M.numbers_table(head, rows)
  return h.div { class = "scroll", h.table { h.tr { tables.map(head, function(text)
    return h.th { text }
  end) }, rows } }
end

--- A coordinate plane from -reach to reach.
---@param title string
---@param reach number
---@param arrows table[] each {name, quantity, class or false, label}; quantity: q, k, v, o, or x
---@param shown string? the name of the text that replaces the title
function M.plane(title, reach, arrows, shown)
  local paths, tips = {}, {}
  for i, arrow in ipairs(arrows) do
    local name, quantity, class, label = table.unpack(arrow)
    paths[i] = h.path { class = ("%s %s %s"):format(quantity == "k" and "line" or "line head",
      quantity, class or ""), ["data-show"] = name, d = ARROWS[quantity] or ARROWS.q }
    tips[i] = label and h.svg { class = "tip " .. quantity, ["data-tip"] = name,
      h.text { ["text-anchor"] = "middle", dy = ".35em", label } }
  end
  return h.div { h.p { class = "check", ["data-show"] = shown, title },
    h.svg { class = "chart plane", role = "img", ["aria-label"] = title, ["data-reach"] = reach,
      h.svg { viewBox = ("%g %g %g %g"):format(-reach, -reach, 2 * reach, 2 * reach),
        h.g { transform = "scale(1 -1)", h.path { class = "grid", d = ("M%g 0H%gM0 %gV%g")
          :format(-reach, reach, -reach, reach) }, h.circle { class = "grid", r = reach / MARGIN },
          paths } }, tips } }
end

--- Planes beside each other.
function M.picture(planes)
  return h.div { class = "pic", h.div { class = "planes", planes } }
end

--- The reach of a plane for the longest of some pairs and the label at its tip.
---@param ... table[] lists of pairs
function M.reach_of(...)
  local reach = 0
  for _, list in ipairs { ... } do
    for _, pair in ipairs(list) do
      reach = math.max(reach, MARGIN * (pair[1] ^ 2 + pair[2] ^ 2) ^ 0.5)
    end
  end
  return reach
end

return M
