--- Report of the checks of an identity, as a document.
local counted = require("roper.base.escape").count
local document = require "roper.text.document"
local tables = require "roper.base.tables"
local terminal = require "roper.text.document.terminal"
local text = require "roper.text.width"

local M = {}

local WIDTH <const> = 76 -- columns of an equation
local SPACE <const> = "\1" -- a space at which lines do not break

-- Formats a residual or probability: "2.2e-16", "0".
local function scientific(number)
  return number == 0 and "0" or ("%.1e"):format(number)
end

-- "1 term", "1 to 3 terms"
local function range(count, what)
  return count == 1 and "1 " .. what or ("1 to %d %ss"):format(count, what)
end

local function residuals(identity)
  return document.table { caption = "Residuals on random tensors:",
    head = { "positions", "terms", "width", "base", "float32", "float64" },
    rows = tables.map(identity.residuals, function(r)
      return { r.positions, r.terms, r.width, ("%.0f"):format(r.base), scientific(r.float32),
        scientific(r.float64) }
    end) }
end

-- Describes the result of the exact check.
local function exact_text(exact)
  if not exact.holds then
    return ("Exact check: the sides differ in trial %d modulo p = %d, with %s and %s."):format(
      exact.trials, exact.prime, counted(exact.terms, "term"), counted(exact.pairs, "pair"))
  end
  return ("Exact check: both sides agree in %d random trials modulo p = %d, for every combination "
    .. "of %s and %s of features. An equation of degree D = %d that is false for any number of "
    .. "terms or pairs passes with probability below (2D/p)^%d = %s."):format(exact.trials,
    exact.prime, range(exact.terms, "term"), range(exact.pairs, "pair"), exact.degree,
    exact.trials, scientific(exact.bound))
end

-- Describes a counterexample.
local function counterexample(found)
  if not found then
    return "no counterexample among small integers"
  end
  return ("%s%sleft\u{A0}%.4g, right\u{A0}%.4g"):format(found.values,
    found.values ~= "" and ": " or "", found.left, found.right)
end

-- Breaks a side of an equation into lines, before signs. Parentheses that fit in a line are kept
-- together.
local function broken(side)
  local words = {}
  local glued = side:gsub("%b()", function(inner) return (inner:gsub(" ", SPACE)) end)
    :gsub("([-+=]) ", "%1" .. SPACE)
  for word in glued:gmatch "%S+" do
    word = word:gsub(SPACE, " ")
    for part in word:gmatch(#word > WIDTH - 4 and "%S+" or ".+") do
      words[#words + 1] = part
    end
  end
  return table.concat(text.wrap(words, WIDTH, "", 4), "\n")
end

--- Returns the equation as text. If it is too long for one line, each side begins a new line.
function M.equation(sides)
  local lines = tables.map(sides, function(side) return side.text end)
  local flat = table.concat(lines, " == ")
  return #flat <= WIDTH and flat or table.concat(tables.map(lines, function(line, i)
    return broken((i > 1 and "== " or "") .. line)
  end), "\n")
end

-- Lists variables by kind: "numbers a; position m, n".
local function given(variables)
  local kinds, names = {}, {}
  for _, v in ipairs(variables) do
    if not names[v.declared] then
      kinds[#kinds + 1], names[v.declared] = v.declared, {}
    end
    table.insert(names[v.declared], v.name)
  end
  return table.concat(tables.map(kinds, function(kind)
    return kind .. " " .. table.concat(names[kind], ", ")
  end), "; ")
end

local function equation(identity)
  return document.listing(M.equation(identity.sides), "identity")
end

--- Returns the report: the equation with its checks, and the equations that must be refuted.
function M.document(identity)
  local is_right = identity.is_small and identity.exact.holds
  return { equation(identity),
    document.details(document.check(is_right, document.prose(
      ("%s; residuals up to %s (float32), %s (float64)"):format(is_right and "holds exactly"
        or identity.exact.holds and "the residuals are too large" or "does not hold",
        scientific(identity.float32), scientific(identity.float64)))), {
      identity.variables[1] and document.paragraph("Given " .. given(identity.variables) .. "."),
      residuals(identity), document.paragraph(document.prose(exact_text(identity.exact))),
      not identity.exact.holds and document.paragraph(document.prose(
        "Smallest counterexample: " .. counterexample(identity.counterexample) .. ".")),
    }, "checks"),
    tables.map(identity.wrong, function(wrong)
      return { equation(wrong), document.check(wrong.is_refuted, {
        wrong.is_refuted and "refuted, as it should be" or "NOT REFUTED",
        wrong.source and (" (%s)"):format(wrong.source), ": ",
        document.prose(counterexample(wrong.counterexample)) }) }
    end) }
end

--- Returns the report as text.
function M.text(identity)
  return terminal.render { M.document(identity), identity.holds and "holds" or "FAILS" }
    :match "^(.-)\n$"
end

return M
