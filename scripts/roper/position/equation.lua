--- Equations of attention in which any of queries, keys, values and output are rotated, for the
--- descriptions of schemes.
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"

local M = {}

--- Factors of the scores for schemes with a magnitude m of queries and keys.
M.MAGNITUDE = { qk = "m²", q = "m", k = "m" }

local OPTIONS <const> = options_of.define("EquationOptions", {
  { "rotate", "string", nil, 'which tensors are rotated: any letters of "qkvo"' },
  { "at", "table?", nil, 'the coordinates of a position, or the name of its angle: with {"Φ"}, '
    .. "R_{Φⱼ−Φᵢ} replaces R_{j−i}", type = "string[]" },
  { "factor", "table", {}, 'factors of the scores if "q", "k" or both, "qk", are rotated',
    type = "table<string, string>" },
  { "before", "string?", nil, "an equation in front" },
  { "after", "string?", nil, "an equation or a remark at the end" },
})

-- The rotation by an expression of the indices i and j.
local function rotation(expression, at)
  local parts = tables.map(at or { "" }, function(name)
    local indices = name == "" and {} or { i = name .. "ᵢ", j = name .. "ⱼ" }
    return (expression:gsub("[ij]", indices))
  end)
  local text = table.concat(parts, ", ")
  return #text == 1 and "R_" .. text or "R_{" .. text .. "}"
end

--- The equation of the scores and, if values or output are rotated, that of the output. If two
--- partners are rotated, q and k or v and o, the equation has the relative rotation; a part without
--- its partner has the rotation by its own position.
---
---     sᵢⱼ = qᵢ · R_{j−i} kⱼ / √d,   R_i qᵢ · kⱼ / √d or qᵢ · R_j kⱼ / √d
---     oᵢ = Σⱼ aᵢⱼ R_{j−i} vⱼ,   Σⱼ aᵢⱼ R_j vⱼ or R_{−i} Σⱼ aᵢⱼ vⱼ
---
--- Errors: letters other than those of "qkvo".
---@param options EquationOptions
---@return string text a line for each equation
function M.text(options)
  local o = options_of.check("position", options, OPTIONS, 0)
  if o.rotate:find "[^qkvo]" then
    error(('position: rotate: expected letters of "qkvo", got %q'):format(o.rotate), 0)
  end
  local function has(letter)
    return o.rotate:find(letter, 1, true) and letter or ""
  end
  local scores, values = has "q" .. has "k", has "v" .. has "o"
  local function R(letters, expression)
    local is_rotated = letters == scores or letters == values
    return is_rotated and rotation(expression, o.at) .. " " or ""
  end
  local factor = o.factor[scores]
  local list = { o.before }
  list[#list + 1] = ("sᵢⱼ = %s%sqᵢ · %s%skⱼ / √d"):format(factor and factor .. " " or "",
    R("q", "i"), R("qk", "j−i"), R("k", "j"))
  if values ~= "" then
    list[#list + 1] = ("oᵢ = %sΣⱼ aᵢⱼ %s%svⱼ"):format(R("o", "−i"), R("vo", "j−i"), R("v", "j"))
  end
  list[#list + 1] = o.after
  return table.concat(list, "\n")
end

--- The equation of a rotary scheme, with its magnitude unless that is 1.
---@param o RotaryOptions
---@return string text a line for each equation
function M.rotary(o)
  local has_magnitude = o.magnitude ~= nil and o.magnitude ~= 1 and o.rotate:find "[qk]"
  return M.text { rotate = o.rotate, factor = has_magnitude and M.MAGNITUDE or nil,
    after = has_magnitude and ("m = %g"):format(o.magnitude) or nil }
end

return M
