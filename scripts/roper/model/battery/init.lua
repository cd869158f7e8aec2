--- A battery of checks for position schemes.
local arguments = require "roper.options.arguments"
local cases = require "roper.model.battery.case"
local checkpoint = require "roper.model.checkpoint"
local checks = require "roper.model.battery.checks"
local diagnostics = require "roper.text.diagnostics"
local options_of = require "roper.options.rows"
local escape = require "roper.base.escape"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

---@class PositionFinding
---@field name string of the check
---@field ok boolean false if the check failed
---@field refused? string the scheme's error message, if it does not support the checked operation
---@field difference? number the largest difference found
---@field message? string an error message, what a failure means, or a remark

--- The results of the battery, one finding for each check. Printing them shows a line for each.
---@class PositionFindings
---@field name string of the scheme
---@field ok boolean true if no check failed and attention works in at least one mode
---@field failed string[] the names of the failed checks

local Findings = { __name = "findings" }

function Findings:__tostring()
  local lines = { self.name }
  for _, finding in ipairs(self) do
    local outcome = finding.refused and "refused" or finding.ok and "ok" or "FAILS"
    local worst = finding.difference and ("%.1e"):format(finding.difference) or ""
    local words = escape.line(finding.refused or finding.message or "")
    lines[#lines + 1] = ("  %-18s%-9s%-9s%s"):format(finding.name, outcome, worst, words)
      :gsub("%s+$", "")
  end
  lines[#lines + 1] = self.ok and "ok" or "FAILS"
  return table.concat(lines, "\n")
end

-- Names of what a scheme returns, as attention's errors give them.
local RESULTS <const> = tables.set { "turns", "rotate", "unrotate", "bias", "scores",
  "query_scale", "mask", "values", "carry", "transport", "state" }

-- Returns the message if an error is a refusal: it begins with the scheme's name, or with
-- "position" and the name. Returns nil for any other error, such as a bug in the scheme: also if
-- what it returns has the wrong type or shape.
local function refusal(message, case)
  local words = tostring(message):gsub("^[^:\n]*:%d+: ", "")
  local names = (case.name .. "+" .. tostring(case.options.type) .. "+rotary"):gsub("%b{}", "")
  for name in names:gmatch "[^+]+" do
    if words:find("^" .. name .. ":") or words:find("position:? " .. name .. "%f[^%w_]") then
      return not RESULTS[words:match("^position: " .. name .. ": ([%a_]+): ")] and words or nil
    end
  end
  return nil
end

-- Runs one check and returns its finding.
local function find(check, case)
  local ok, worst, allowed, words = pcall(check.run, case)
  if not ok then
    if diagnostics.is_interrupt(worst) then
      error(worst, 0)
    end
    local refused = refusal(worst, case)
    return { name = check.name, ok = refused ~= nil, refused = refused,
      message = not refused and tostring(worst) or nil }
  end
  if not (worst <= allowed) then -- luacheck: ignore 581
    words = check.fault
  end
  return { name = check.name, ok = worst <= allowed, difference = worst, message = words }
end

local OPTIONS <const> = options_of.define("PositionCheckOptions", {
  { "dim", "size", 8, "features of a head" },
  { "heads", "size", 3 },
  { "length", "size", 16, "for schemes with a table of positions" },
})

--- Checks a position scheme: shapes and dtypes, gradients, trained tensors that no method reads,
--- the effect of shifting all positions, masks, the cache, agreement with the eager attention and
--- the oracle, precision, checkpoints. If the scheme reports that it does not support something,
--- that check is "refused", which is not a failure; a result of the wrong type or shape is one.
--- Attention itself must work in at least one of two modes: causal or not causal.
---
--- Errors: the scheme is unknown; it refuses its options.
---
---     > roper.position.check("alibi").ok
---     true
---     > roper.position.register("skewed", {relative = true, bias =
---     >>   function(self, q, k, positions)
---     >>     local p = positions.key:to(q:dtype())
---     >>     return p:square():view{-1, 1, 1, positions.keys}
---     >>   end})
---     > roper.position.check("skewed").failed
---     {"moved by 1", "moved by 640", "moved by 0.5", "moved by -3"}
---@param scheme string|table|Scheme|rotary a scheme, its name, or {type = name, ...}
---@param options? PositionCheckOptions
---@return PositionFindings findings
function M.check(scheme, options)
  local o = options_of.check("position.check", options, OPTIONS)
  arguments.check("position.check", "scheme", "position", scheme)
  local plain = checkpoint.options({ options = { position = scheme } }).position
  plain = type(plain) == "table" and plain or { type = plain }
  local case = cases.new(plain, { dim = o.dim, heads = o.heads, d_model = o.dim * o.heads,
    length = o.length })
  return scoped.with_seed(1, function()
    case:make()
    local findings = setmetatable({ name = case.name, failed = {} }, Findings)
    for i, check in ipairs(checks) do
      findings[i] = find(check, case)
      if not findings[i].ok then
        findings.failed[#findings.failed + 1] = check.name
      end
      if check.name == "causal" and #case.modes == 0 then
        break -- attention does not work at all
      end
    end
    findings.ok = #findings.failed == 0 and #case.modes > 0
    return findings
  end)
end

return M
