local roper = require("roper")

local count = 0

-- The battery's findings on a scheme of one's own.
local function try(definition, options)
  count = count + 1
  local name = ("battery_scheme_%d"):format(count)
  definition.name = nil
  roper.position.register(name, definition)
  options = options or {}
  options.type = name
  return roper.position.check(options), name
end

local function row(x, q)
  return x:view({ 1, 1, 1, -1 }):to(q:dtype())
end

-- One fault each, by a check that finds it.
local FAULTS = {
  ["causal"] = {
    bias = function(_, q, _, positions)
      return roper.full({ positions.queries, positions.keys }, positions.causal and 0 / 0 or 0,
        q:dtype())
    end,
  },
  ["future tokens"] = {
    bias = function(_, q, k, positions)
      local last = k:narrow(3, positions.keys, 1):sum(4, true)
      return last * row(roper.arange(0, positions.keys), q)
    end,
  },
  ["fewer queries"] = {
    bias = function(_, q, _, positions)
      return roper.arange(0, positions.queries):view({ -1, 1 }):to(q:dtype())
        * row(roper.arange(0, positions.keys), q)
    end,
  },
  ["rows"] = {
    bias = function(_, q, _, positions) return row(positions.key[1]:square(), q) end,
  },
  ["hidden keys"] = {
    bias = function(_, q, _, positions)
      return row(roper.arange(0, positions.keys):square(), q)
    end,
  },
  ["no key"] = {
    carry = function(_, weights, positions)
      return roper.ones({ weights:size(1), weights:size(2), positions.queries, 8 },
        weights:dtype())
    end,
  },
  ["gradients"] = {
    bias = function(_, _, k) return k:detach():sum(4):unsqueeze(3) end,
  },
  ["float32"] = {
    bias = function(_, q, _, positions)
      local angle = (positions.key + 0.123456789) * 1e6
      return angle:to(q:dtype()):sin():view({ -1, 1, 1, positions.keys })
    end,
  },
  ["moved by 0.5"] = {
    relative = true,
    bias = function(_, q, _, positions)
      local turned = (positions.key * (2 * math.pi)):cos()
        * roper.arange(0, positions.keys, 1, "float64")
      return turned:view({ -1, 1, 1, positions.keys }):to(q:dtype())
    end,
  },
  ["cache"] = {
    bias = function(self, q, _, positions)
      self.passes = (self.passes or 0) + 1
      return row(roper.arange(0, positions.keys) * self.passes, q)
    end,
  },
  ["cache moved"] = {
    per_layer = true,
    bias = function(self, q, _, positions, x)
      local sums, before = x:narrow(3, 1, 1):squeeze(3):cumsum(2), positions.keys - x:size(2)
      if before > 0 then
        local rows = math.min(x:size(1), self.sums:size(1))
        local earlier = self.sums:narrow(1, 1, rows):narrow(2, 1, before)
        earlier = roper.cat({ earlier, earlier:narrow(1, 1, 1) }, 1):narrow(1, 1, x:size(1))
        sums = roper.cat({ earlier, sums + earlier:narrow(2, before, 1) }, 2)
      end
      self.sums = sums
      return sums:unsqueeze(2):unsqueeze(3):to(q:dtype())
    end,
  },
  ["prompts"] = {
    bias = function(_, q, _, positions)
      return row(roper.arange(0, positions.keys):square(), q)
    end,
  },
}

describe("position.check", function()
  for name, definition in pairs(FAULTS) do
    it("finds a fault in: " .. name, function()
      local findings = try(definition)
      assert.is_false(findings.ok)
      local found = {}
      for _, failed in ipairs(findings.failed) do
        found[failed] = true
      end
      assert.is_true(found[name], tostring(findings))
      assert.truthy(tostring(findings):find("\n  " .. name .. " +FAILS"), tostring(findings))
    end)
  end

  it("finds state that a checkpoint does not contain", function()
    local findings = try({
      takes = { heads = "size" },
      init = function(self) self.hidden = roper.randn({ self.heads }) end,
      bias = function(self, q, _, positions)
        return self.hidden:view({ 1, -1, 1, 1 }):to(q:dtype())
          * row(roper.arange(0, positions.keys), q)
      end,
    })
    assert.same({ "checkpoint" }, findings.failed)
  end)

  it("finds trained tensors that no method reads", function()
    local findings = try({
      takes = { heads = "size" },
      init = function(self)
        self.slope, self.far = roper.ones({ self.heads }):parameter(), roper.ones({ 1 }):parameter()
        self.unread = roper.ones({ 2 }):parameter()
      end,
      bias = function(self, q, _, positions)
        local distance = positions:distances()
        local slope = roper.where(distance:abs():gt(1000), self.far:to("float64"),
          self.slope:to("float64"):view({ -1, 1, 1 }))
        return (distance * slope):to(q:dtype())
      end,
    })
    assert.same({ "trained tensors" }, findings.failed)
    assert.truthy(tostring(findings):find("expected trained tensors that change the output, got a "
      .. "gradient of 0 for unread; use them in a method or remove them", 1, true))
  end)

  it("prints what a failure means only for checks that fail", function()
    for _, finding in ipairs(roper.position.check("alibi")) do
      assert.is_true(finding.ok)
      assert.is_true(not finding.message or finding.message == "relative: output unchanged",
        finding.message)
    end
  end)

  it("finds options that are not saved", function()
    local findings = try({
      takes = { rate = { "number", 1 } },
      options = function(self) return { type = self.name } end,
    }, { rate = 2 })
    assert.same({ "options" }, findings.failed)
    assert.equal("expected options with rate = [2], got {}", findings[1].message)
  end)

  it("finds attention that does not agree with the others", function()
    for name, module in pairs({ eager = require("roper.attention.eager"),
      oracle = require("roper.attention") }) do
      local key = name == "eager" and "attention" or "oracle"
      local original = module[key]
      module[key] = function(q, ...) return original(q * 1.000001, ...) end
      local findings = roper.position.check("alibi")
      module[key] = original
      assert.same({ name }, findings.failed)
    end
  end)

  it("counts an error of a scheme as refused, and a fault in its code as failed", function()
    local findings, name = try({
      bias = function(self, q, _, positions)
        if not positions.causal then
          error(self.name .. ": needs causal attention", 0)
        end
        return roper.zeros({ positions.keys }, q:dtype())
      end,
    })
    assert.is_true(findings.ok, tostring(findings))
    assert.equal(name .. ": needs causal attention", findings[2].refused)
    assert.truthy(tostring(findings):find("not causal +refused +" .. name .. ": needs causal"))
    for _, fault in ipairs({
      function(_, _, _, positions) return positions.nothing.there end,
      function(self) error("no key, got " .. self.name) end,
    }) do
      findings = try({ bias = fault })
      assert.same({ "not causal", "causal" }, findings.failed)
      assert.equal(3, #findings)
    end
  end)

  it("fails for a scheme that rejects everything", function()
    local findings = try({ bias = function(self) error(self.name .. ": no", 0) end })
    assert.same({}, findings.failed)
    assert.is_false(findings.ok)
    assert.equal("FAILS", tostring(findings):match("%a+$"))
  end)

  it("accepts names, options, joined names and schemes", function()
    for _, scheme in ipairs({ "rope", { type = "rope", fraction = 0.5 }, "rope+alibi",
      { type = "join", parts = { "rope", "shaw" } },
      roper.position.roper({ dim = 8 }), roper.position.alibi({ heads = 3 }) }) do
      local findings = roper.position.check(scheme)
      assert.is_true(findings.ok, tostring(findings))
    end
    assert.error_matches(function() roper.position.check("rop") end, 'did you mean "rope"')
    assert.error_matches(function() roper.position.check("rope", { dim = 3 }) end, "even")
    for _, nothing in ipairs({ 5, {}, { "rope", "none" } }) do
      assert.error_matches(function() roper.position.check(nothing) end,
        "expected a scheme, its name or {type = name, %.%.%.}, got ")
    end
  end)

  it("leaves the generator unchanged", function()
    roper.seed(5)
    local expected = roper.rand({ 1 }):item()
    roper.seed(5)
    roper.position.check("none")
    assert.equal(expected, roper.rand({ 1 }):item())
  end)

  it("ends at Ctrl-C", function()
    local calls = 0
    roper.position.register("interrupted", { turns = function()
      calls = calls + 1
      error("interrupted", 0)
    end })
    assert.has_error(function() roper.position.check("interrupted") end, "interrupted")
    assert.equal(1, calls)
  end)
end)
