--- Text report of the checks of an identity.
local counted = require("roper.base.escape").count
local fill = require("roper.base.format.columns").fill
local tables = require "roper.base.tables"

local M = {}

local WIDTH <const> = 76 -- columns of an equation

--- Formats a residual or probability: "2.2e-16", "0".
---@param number number
---@return string
function M.scientific(number)
  return number == 0 and "0" or ("%.1e"):format(number)
end

--- Returns the residuals as rows of a table, after a header row.
---@param identity table
---@return string[][]
function M.rows(identity)
  local rows = { { "positions", "terms", "width", "base", "float32", "float64" } }
  for i, r in ipairs(identity.residuals) do
    rows[i + 1] = { r.positions, tostring(r.terms), tostring(r.width), ("%.0f"):format(r.base),
      M.scientific(r.float32), M.scientific(r.float64) }
  end
  return rows
end

-- "1 term", "1 to 3 terms"
local function range(count, what)
  return count == 1 and "1 " .. what or ("1 to %d %ss"):format(count, what)
end

--- Describes the result of the exact check.
---@param exact ExactResult
---@return string
function M.exact(exact)
  if not exact.holds then
    return ("the sides differ in trial %d modulo p = %d,\nwith %s and %s"):format(exact.trials,
      exact.prime, counted(exact.terms, "term"), counted(exact.pairs, "pair"))
  end
  return ("both sides agree in %d random trials modulo p = %d,\n"
    .. "for each of %s and %s of features; an equation of\n"
    .. "degree D = %d that is false for any number of terms or pairs\n"
    .. "passes with probability below (2D/p)^%d = %s"):format(exact.trials, exact.prime,
    range(exact.terms, "term"), range(exact.pairs, "pair"), exact.degree, exact.trials,
    M.scientific(exact.bound))
end

local GLUE <const> = "\1" -- a non-breaking space

-- Splits a text into pieces between which a line can break. Parentheses, and a sign with its
-- operand, stay in one piece if they fit.
local function pieces(text, width)
  local list = {}
  local glued = text:gsub("%b()", function(inner) return (inner:gsub(" ", GLUE)) end)
    :gsub(" = ", GLUE .. "=" .. GLUE):gsub("([-+=]) ", "%1" .. GLUE)
  for piece in glued:gmatch "%S+" do
    piece = piece:gsub(GLUE, " ")
    for part in piece:gmatch(#piece > width and "%S+" or ".+") do
      list[#list + 1] = part
    end
  end
  return list
end

-- Breaks a text into lines of at most `width` columns; all but the first are indented.
local function broken(text, width)
  return table.concat(fill(pieces(text, width - 4), width, "", 4), "\n")
end

--- Describes a counterexample in one sentence.
---@param found table?
---@param head? string text before it
---@return string
function M.counterexample(found, head)
  head = head or ""
  if not found then
    return head .. "no counterexample among small whole numbers"
  end
  local at = found.values ~= "" and found.values .. ": " or ""
  local text = ("%s%sleft" .. GLUE .. "%.4g, right" .. GLUE .. "%.4g"):format(head, at, found.left,
    found.right)
  return broken(text, WIDTH - 4)
end

--- Returns the equation as text; if it is too long for a line, with one side per line.
---@param sides table[]
---@return string
function M.equation(sides)
  local lines = tables.map(sides, function(side) return side.text end)
  local flat = table.concat(lines, " == ")
  if #flat <= WIDTH then
    return flat
  end
  for i, line in ipairs(lines) do
    lines[i] = broken((i > 1 and "== " or "") .. line, WIDTH - 2)
  end
  return table.concat(lines, "\n  ")
end

-- Lists variables by kind: "numbers a; position m, n".
local function given(variables)
  local groups, of_kind = {}, {}
  for _, v in ipairs(variables) do
    local group = of_kind[v.declared]
    if group then
      group[#group + 1] = v.name
    else
      of_kind[v.declared] = { kind = v.declared, v.name }
      groups[#groups + 1] = of_kind[v.declared]
    end
  end
  for i, group in ipairs(groups) do
    groups[i] = group.kind .. " " .. table.concat(group, ", ")
  end
  return table.concat(groups, "; ")
end

-- Adds lines about the wrong equations.
local function add_wrong(identity, add)
  for _, wrong in ipairs(identity.wrong) do
    add("%s\n  %s%s\n    %s", M.equation(wrong.sides),
      wrong.is_refuted and "refuted, as it should be" or "NOT REFUTED",
      wrong.source and (" (%s)"):format(wrong.source) or "",
      M.counterexample(wrong.counterexample))
  end
end

-- Returns a list of lines, and a function that adds a formatted one.
local function lines_of(first)
  local lines = { first }
  return lines, function(form, ...)
    lines[#lines + 1] = form:format(...)
  end
end

--- Summarizes the checks in one line: the largest residuals, and the probability of an error.
---@param identity table
---@return string
function M.summary(identity)
  local float32, float64 = 0, 0
  for _, r in ipairs(identity.residuals) do
    float32, float64 = math.max(float32, r.float32), math.max(float64, r.float64)
  end
  return ("off by %s (float32), %s (float64); %s"):format(M.scientific(float32),
    M.scientific(float64), identity.exact.holds
    and "exact, chance of error " .. M.scientific(identity.exact.bound) or "not exact")
end

--- Returns the report with the checks in one line.
---@param identity table
---@return string
function M.folded(identity)
  local lines, add = lines_of(M.equation(identity.sides))
  add("  %s", M.summary(identity))
  add_wrong(identity, add)
  return table.concat(lines, "\n")
end

--- Returns the full report.
---@param identity table
---@return string
function M.text(identity)
  local lines, add = lines_of(M.equation(identity.sides))
  if #identity.variables > 0 then
    add("  given %s", given(identity.variables))
  end
  add "  residuals on random tensors"
  for _, row in ipairs(M.rows(identity)) do
    add("    %-22s %5s %6s %7s %9s %9s", table.unpack(row))
  end
  add("  exactly: %s", (M.exact(identity.exact):gsub("\n", "\n  ")))
  if not identity.exact.holds then
    add("  %s", M.counterexample(identity.counterexample, "smallest counterexample: "))
  end
  add_wrong(identity, add)
  add("%s", identity.holds and "holds" or "FAILS")
  return table.concat(lines, "\n")
end

return M
