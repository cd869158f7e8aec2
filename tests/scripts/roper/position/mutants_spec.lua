-- Schemes with planted faults: the fixtures or the battery find each of them.

local positions = require("tests.positions")
local roper = require("roper")
local schemes = require("roper.position.scheme")
local scratch = require("tests.scratch")

-- The function that makes the scheme of a file in which texts are exchanged.
local function exchanged(name, exchanges)
  local text = scratch.read(("scripts/roper/position/schemes/%s.lua"):format(name))
  for from, to in pairs(exchanges) do
    local count
    text, count = text:gsub(from:gsub("%p", "%%%0"), (to:gsub("%%", "%%%%")))
    assert.is_true(count > 0, ("%s.lua has no %q any more"):format(name, from))
  end
  local definition = assert(load(text, "=" .. name))()
  schemes.complete(name, definition)
  return definition.make
end

-- The text of a scheme's file for a module in which texts are exchanged: the first by the second,
-- the third by the fourth, and so on.
local function within(module, ...)
  local text, texts = scratch.read(("scripts/roper/position/%s.lua"):format(module)), { ... }
  for i = 1, #texts, 2 do
    local first, last = text:find(texts[i], 1, true)
    assert.is_not_nil(first, ("%s.lua has no %q any more"):format(module, texts[i]))
    text = text:sub(1, first - 1) .. texts[i + 1] .. text:sub(last + 1)
  end
  return { [('require "roper.position.%s"'):format(module)] = ("load(%q)()"):format(text) }
end

-- The sums of steps, these without those of the token itself, and without those in the cache.
local SUMS <const> = 'positions:accumulate(scheme, "step", x, steps)'
local EXCLUSIVE <const> = "(" .. SUMS .. ' - positions:keep(scheme, "step", x, steps))'
local FORGOTTEN <const> = [[(function()
  local sums, earlier = ]] .. SUMS .. [[, positions.keys - x:size(2)
  return earlier == 0 and sums or core.cat({ sums:narrow(2, 1, earlier) * 0,
    sums:narrow(2, earlier + 1, x:size(2)) - sums:narrow(2, earlier, 1) }, 2)
end)()]]

-- A scheme that turns as a rotary does, but for what `change` makes of a call.
local function turned(name, change)
  local make = require("roper.position.schemes." .. name).make
  return function(options)
    local rotary = make(options)
    local turn = {
      rotate = function(_, x, at, part) return change(rotary, "rotate", x, at, part) end,
      unrotate = function(_, x, at, part) return change(rotary, "unrotate", x, at, part) end,
    }
    local given = { type = name }
    for option, value in pairs(options) do
      given[option] = value
    end
    return schemes.class({ name = name, turns = function() return turn end,
      options = function() return given end })()
  end
end

-- What refuses a scheme while another function makes it; `prepare` fits the fixture to it, which is
-- that of its name or another.
local function refused_by(name, make, prepare, of)
  local entry = require("roper.position.schemes." .. name)
  local original = entry.make
  entry.make = make
  local found = {}
  local ok, message = pcall(function()
    local fixture = positions.fixture(of or name)
    if prepare then
      prepare(fixture.tensors)
    end
    found.fixture = false
    for _, difference in pairs(positions.differences(fixture, fixture.position, "float64")) do
      found.fixture = found.fixture or difference > 1e-10
    end
    for _, check in ipairs(roper.position.check(fixture.position).failed) do
      found[check] = true
    end
  end)
  entry.make = original
  assert(ok, message)
  return found
end

-- Rows of zeros at both ends of the tables, for a scheme that reads one further.
local function widen(tensors)
  for _, name in ipairs({ "param.key", "param.value" }) do
    local zeros = roper.zeros({ 1, tensors[name]:size(2) }, "float64")
    tensors[name] = roper.cat({ zeros, tensors[name], zeros }, 1)
  end
end

-- Exchanges by which a scheme keeps its state in itself, where selected rows do not move it.
local HELD <const> = {
  ["positions:keep("] = "held(positions, ",
  ['local core = require "roper.core"'] = [[
local core = require "roper.core"
local function held(positions, self, name, _, compute)
  local new = compute()
  local earlier = positions.keys - new:size(2)
  if earlier > 0 then
    local rows = core.tensor({ 1, 2, 1 }, "int32"):narrow(1, 1, new:size(1))
    new = core.cat({ self["held_" .. name]:narrow(2, 1, earlier):index_select(1, rows), new }, 2)
  end
  self["held_" .. name] = new:detach()
  return new
end]],
}

local MUTANTS = {
  { "alibi", "slopes of 12 heads as if there were 16", "fixture",
    { ["power * 2 <= heads"] = "power < heads" } },
  { "alibi", "distance off by one", "fixture", { ["distance:abs()"] = "(distance + 1):abs()" } },
  { "shaw", "distance sign flipped", "fixture", { ["table, distance"] = "table, -distance" } },
  { "shaw", "distance off by one", "fixture", { ["distance +"] = "distance + 1 +" } },
  { "shaw", "clip at K + 1", "fixture", { ["2 * self.clip + 1"] = "2 * self.clip + 3",
    ["distance + self.clip"] = "distance + self.clip + 1",
    ["), self.clip"] = "), self.clip + 1" }, widen },
  { "t5", "distance sign flipped", "fixture", { ["(-distance):maximum"] = "distance:maximum",
    ["distance:gt(0)"] = "distance:lt(0)" } },
  { "t5", "bucket boundary shifted", "fixture",
    { ["exact = buckets // 2"] = "exact = buckets // 2 + 1" } },
  { "yarn", "its factor folded into values and output", "fixture",
    function(rotary, method, x, at, part)
      local factor = (part == "v" or part == "o") and rotary:options().magnitude or 1
      return rotary[method](rotary, x, at, part) * factor
    end, nil, "yarn_roper" },
  { "hope", "slow pairs rotated, not fast ones", "fixture", { [">= 2"] = "< 2" } },
  { "hope", "radians counted as rotations", "fixture", { [">= 2 * math.pi"] = ">= 1" } },
  { "ssmax", "later keys counted", "fixture", { ["elseif positions.causal"] = "elseif false" } },
  { "ssmax", "the number of keys without its logarithm", "fixture", { ["(1):log()"] = "(1)" } },
  { "ssmax", "hidden keys counted", "hidden keys", { ["if positions.mask"] = "if false" } },
  { "window", "window one wider", "fixture", { [":lt(self.size)"] = ":le(self.size)" } },
  { "window", "all earlier keys seen", "fixture", { [":abs():lt"] = ":lt" } },
  { "window", "padding taken for the first keys", "prompts", { ["if not given"] = "if true" } },
  { "window", "hidden keys taken for the first ones", "hidden keys",
    { ["if not given"] = "if true" } },
  { "grape_m", "sum of steps with the token's own", "fixture",
    { ["step:cumsum(2) - step"] = "step:cumsum(2)" } },
  { "grape_m", "output not rotated back", "fixture",
    { ["if not self.rotate"] = 'if part == "o" or not self.rotate' }, nil, "grape_m_roper" },
  { "grape_m", "state not moved with the cache", "cache moved", HELD },
  { "grape_a", "distance sign flipped", "fixture", { ["-slopes *"] = "slopes *" } },
  { "grape_ap", "sum with the key's own token", "fixture",
    { ["added:flip(4):cumsum(4):flip(4) - added"] = "added:flip(4):cumsum(4):flip(4)" } },
  { "grape_ap", "direction of the rotation exchanged", "fixture",
    { ["positions.key,"] = "-positions.key," } },
  { "grape_ap", "state not moved with the cache", "cache moved", HELD },
  { "rope", "distance sign flipped", "fixture",
    function(rotary, _, x, at, part) return rotary:unrotate(x, at, part) end },
  { "roper", "output turned on, not back", "moved by 1",
    function(rotary, _, x, at, part) return rotary:rotate(x, at, part) end },
  { "accumulated", "sums without the angle of the token itself", "fixture",
    within("accumulate", SUMS, EXCLUSIVE) },
  { "accumulated", "values rotated the wrong way", "fixture",
    within("accumulate", '(part == "q"', 'part == "v" and -angle.of_keys or (part == "q"') },
  { "accumulated", "angles not kept in the cache", "cache",
    within("accumulate", SUMS, FORGOTTEN) },
  { "selective", "sums without the angle of the token itself", "fixture",
    within("accumulate", SUMS, EXCLUSIVE) },
  { "selective", "a convolution that sees the next token", "future tokens",
    { ["causal_convolution(last,"] = "causal_convolution(core.cat({ last:narrow(2, 2, last:size(2) "
      .. "- 1), last:narrow(2, 1, 1) }, 2)," } },
  { "selective", "a convolution without the tokens in the cache", "cache",
    { ["math.min(phases:size(2) - time, kernel:size(2) - 1)"] = "0" } },
  { "path", "the map of the key's own token applied", "fixture",
    { ["scale, k,"] = "scale, (function(w, beta) return k - (k * w):sum(4, true) * w "
      .. "* beta:unsqueeze(4) end)(maps_of(self, positions, x))," } },
  { "path", "maps of the tokens before", "fixture",
    { ["return maps[1], maps[2]"] = "return maps[1]:roll(1, 3), maps[2]:roll(1, 3)" } },
  { "path", "values that stay behind", "fixture",
    { ["core.householder_sums(weights, v,"] = "(function(a, b) return a:matmul(b) end)(weights, "
      .. "v," }, nil, "path_qkvo" },
  { "path", "a convolution that sees the next token", "future tokens",
    { ["causal_convolution(near,"] = "causal_convolution(core.cat({ near:narrow(2, 2, near:size(2) "
      .. "- 1), near:narrow(2, 1, 1) }, 2)," } },
  { "path", "a convolution without the tokens in the cache", "cache",
    { ["math.min(f:size(2) - time, self.width - 1)"] = "0" } },
  { "path", "state not moved with the cache", "cache moved", HELD },
  { "selective", "an input divided by the length of all its features", "fixture",
    { ["normalized(x, self.heads)"] = "normalized(x, 1)" } },
}

describe("refused is #long", function()
  for _, mutant in ipairs(MUTANTS) do
    local name, what, by, change, prepare, of = table.unpack(mutant, 1, 6)
    it(("%s: %s"):format(name, what), function()
      local make = type(change) == "table" and exchanged(name, change) or turned(name, change)
      assert.is_true(refused_by(name, make, prepare, of)[by])
    end)
  end

  for _, name in ipairs({ "rope", "roper" }) do
    it(name .. ": cached keys turned twice", function()
      local model = roper.nn.Transformer({ vocabulary = 2, d_model = 8, heads = 2 })
      local layer = getmetatable(model:cache({ batch = 1, length = 2 }):layer(1))
      local extend = layer.extend
      layer.extend = function(self, k, v, rotary)
        return extend(self, rotary:rotate(k, self:positions(k:size(3)), "k"), v, rotary)
      end
      local ok, findings = pcall(roper.position.check, name)
      layer.extend = extend
      assert(ok, findings)
      assert.same({ "cache", "cache moved", "prompts" }, findings.failed)
    end)
  end

  it("no scheme of the library", function()
    for _, name in ipairs({ "rope", "alibi" }) do
      assert.same({ fixture = false },
        refused_by(name, require("roper.position.schemes." .. name).make))
    end
    local same = turned("roper", function(rotary, method, x, at, part)
      return rotary[method](rotary, x, at, part)
    end)
    assert.same({ fixture = false }, refused_by("roper", same))
    same = turned("yarn", function(rotary, method, x, at, part)
      return rotary[method](rotary, x, at, part)
    end)
    assert.same({ fixture = false }, refused_by("yarn", same, nil, "yarn_roper"))
  end)
end)
