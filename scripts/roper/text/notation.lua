--- The letters of the lessons, for their map and `?notation`. Each lesson also lists its own.
local document = require "roper.text.document"
local tables = require "roper.base.tables"

local M = {}

M.ROWS = {
  { "m", "the position of the query, counted from 0" },
  { "n", "the position of a key and its value" },
  { "q_m, k_n, v_n", "the query, the key and the value of the token at a position" },
  { "a_{m,n}", "the weight of the value at $n$ for the query at $m$" },
  { "o_m", "the output: the sum of the weighted values" },
  { "ô_m", "the sum of the rotated values, before it is rotated back" },
  { "θ", "the frequency: the angle per position; $θ_t$ is that of pair $t$" },
  { "R_m", "the rotation by position $m$, by the angle $mθ$; $R_{-m}$ rotates back" },
  { "R_{n-m}", "the rotation by the distance from the query" },
  { "d", "the number of features of a vector: $d/2$ pairs" },
  { "x · y", "the dot product, $x₁ y₁ + x₂ y₂ + …$" },
  { "j", "the position of each key, in the sum that weights are divided by" },
  { "p", "a distance in positions" },
}

--- The notation as a table.
---@param is_folded boolean? whether pages fold it
---@return table tree
function M.document(is_folded)
  local list = document.table { class = "notation", sides = "l", indent = 0,
    rows = tables.map(M.ROWS, function(row)
      return { document.math(row[1]), document.prose(row[2]) }
    end) }
  return is_folded and document.details("Notation", list, "about")
    or { document.heading "Notation", list,
      document.paragraph "Each lesson lists its own letters below Goals and notation." }
end

return M
