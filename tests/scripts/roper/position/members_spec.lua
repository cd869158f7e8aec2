-- What a scheme may define, beyond rotations and biases by positions.
local arrays = require("tests.arrays")
local roper = require("roper")

local count = 0
local function fresh()
  count = count + 1
  return ("spec_member_%d"):format(count)
end

local function register(scheme)
  local name = fresh()
  roper.position.register(name, scheme)
  return name
end

local scores_of = require("roper.attention.eager").scores
local B, H, T, D = 2, 3, 6, 8
local Q, K, V, X

-- Attention with all tokens, or the last two queries.
local function attend(position, how)
  local o = { position = position, causal = true, input = X }
  for key, value in pairs(how or {}) do
    o[key] = value
  end
  return roper.attention(Q, K, V, o)
end

local function theta(count_of)
  local list = {}
  for t = 0, count_of - 1 do
    list[t + 1] = 10000 ^ (-t / count_of)
  end
  return roper.tensor(list, "float64")
end

-- RoPE as angles: positions times frequencies.
local function angles(letters)
  return { relative = true, turns = function(_, part, positions)
    if letters:find(part, 1, true) then
      local at = (part == "q" or part == "o") and positions.query or positions.key
      return at:unsqueeze(2):unsqueeze(4) * theta(D // 2)
    end
  end }
end

-- A scheme that counts its tokens through a state.
local function counted()
  return { state = { "sum" }, relative = true, turns = function(self, part, positions, x)
    local sum = positions:keep(self, "sum", x, function(before)
      local own = x:narrow(3, 1, 1):squeeze(3):to("float64"):cumsum(2)
      return before and own + before:narrow(2, before:size(2), 1) or own
    end)
    if part == "q" or part == "o" then
      sum = positions:of_queries(sum, 2)
    end
    return sum:unsqueeze(2):unsqueeze(4) * theta(D // 2)
  end }
end

describe("A scheme", function()
  before_each(function()
    roper.seed(1)
    Q, K, V = table.unpack((function()
      local list = {}
      for i = 1, 3 do
        list[i] = roper.randn({ B, H, T, D }, "float64")
      end
      return list
    end)())
    X = roper.randn({ B, T, H * D }, "float64")
  end)

  for _, letters in ipairs({ "qk", "qkvo", "vo", "kv", "o" }) do
    it("can return angles, which rotate " .. letters .. " as a rotary does", function()
      local o = attend(register(angles(letters)))
      arrays.close(attend({ type = "rope", rotate = letters }), o, 1e-12)
    end)
  end

  it("passes the battery with angles that depend on the input, through its state", function()
    for _, name in ipairs({ register(angles("qkvo")), register(counted()) }) do
      local findings = roper.position.check(name)
      assert(findings.ok, tostring(findings))
    end
  end)

  it("has the same findings with an option in braces", function()
    local scheme = counted()
    scheme.takes = { factor = { "number", 1 } }
    local findings = roper.position.check(register(scheme) .. "{factor=2}")
    assert(findings.ok, tostring(findings))
    assert.is_not_nil(findings[2].refused)
  end)

  it("is found if it keeps a state that it does not declare", function()
    local scheme = counted()
    scheme.state = nil
    function scheme.turns(self, _, positions, x)
      local own = x:narrow(3, 1, 1):squeeze(3):to("float64"):cumsum(2)
      local before = positions.keys - x:size(2)
      if before > 0 and self.sums and self.sums:size(2) == before then
        own = roper.cat({ self.sums, own + self.sums:narrow(2, before, 1) }, 2)
      end
      self.sums = own:detach()
      return own:unsqueeze(2):unsqueeze(4) * theta(D // 2)
    end
    local findings = roper.position.check(register(scheme))
    assert.is_false(findings.ok)
  end)

  it("is found if its angles depend on later tokens", function()
    local name = register({ turns = function(_, part, positions, x)
      if part == "q" or part == "k" then
        local sum = x:narrow(3, 1, 1):to("float64"):sum({ 2, 3 }, true):squeeze(3)
        return (sum * roper.arange(0, positions.keys, 1, "float64")):narrow(2, part == "q"
          and positions.keys - positions.queries + 1 or 1, part == "q" and positions.queries
          or positions.keys):unsqueeze(2):unsqueeze(4) * theta(D // 2)
      end
    end })
    local found = tostring(roper.position.check(name))
    assert.truthy(found:find("future tokens +FAILS +%S+ +a query depends on later tokens"), found)
  end)

  it("is refused with its name if its angles do not fit", function()
    for shape, got in pairs({
      [{ 1, 1, T, D }] = "float64 [1, 1, 6, 8]", [{ 1, 2, T, 1 }] = "float64 [1, 2, 6, 1]",
      [{ T, 2 }] = "float64 [6, 2]", [{ 1, 1, T + 1, 2 }] = "float64 [1, 1, 7, 2]" }) do
      local name = register({ turns = function() return roper.zeros(shape, "float64") end })
      local ok, message = pcall(attend, name)
      assert.is_false(ok)
      assert.equal(("position: %s: turns: expected angles, floats [1 or 2, 1 or 3, 6, up to 4] for "
        .. '"q", got %s'):format(name, got), message:match("position: .*"))
    end
    Q = Q:narrow(3, 5, 2)
    local name = register({ turns = function() return roper.zeros({ 1, 1, T, 2 }, "float64") end })
    local _, message = pcall(attend, name)
    assert.truthy(message:find("got float64 [1, 1, 6, 2]; use positions:of_queries", 1, true),
      message)
    name = register({ turns = function() return 3 end })
    _, message = pcall(attend, name)
    assert.truthy(message:find(name .. ": turns: expected angles, a rotary or a table with rotate "
      .. 'and unrotate for "q", got number', 1, true), message)
  end)

  it("is refused with its name if it rotates without a result, or cannot rotate back", function()
    local function refused(expected, map)
      local name = register({ turns = function() return map end })
      local ok, message = pcall(attend, name)
      assert.is_false(ok)
      assert.equal(("position: %s: %s"):format(name, expected), message:match("position: .*"))
    end
    local function same(_, x) return x end
    local function none() end
    refused("rotate: expected float64 [2, 3, 6, 8], got nil", { rotate = none, unrotate = same })
    refused("unrotate: expected float64 [2, 3, 6, 8], got nil", { rotate = same, unrotate = none })
    refused("rotate: expected float64 [2, 3, 6, 8], got float64 [2, 3, 5, 8]",
      { rotate = function(_, x) return x:narrow(3, 1, 5) end, unrotate = same })
    refused("turns: expected angles, a rotary or a table with rotate and unrotate for \"o\", got a "
      .. "table without unrotate", { rotate = same })
  end)

  it("can replace scores, also with a bias and factors of queries", function()
    local name = register({ scores = function(_, q, k, positions)
      return q:matmul(k:transpose(3, 4)) * positions.scale
    end })
    arrays.close(attend("none"), attend(name), 1e-12)
    arrays.close(attend("alibi"), attend(name .. "+alibi"), 1e-12)
    arrays.close(attend("rope{rotate=vo}"), attend(name .. "+rope{rotate=vo}"), 1e-12)
    local how = { position = name, causal = true }
    arrays.close(roper.attention(Q, K, V, { causal = true }), roper.oracle.attention(Q, K, V, how),
      1e-12)
    arrays.close(roper.attention_weights(Q, K, { causal = true }),
      roper.attention_weights(Q, K, how), 1e-12)
    local findings = roper.position.check(name)
    assert(findings.ok, tostring(findings))
  end)

  it("can replace the sum of values", function()
    local name = register({ transport = function(_, weights, v) return weights:matmul(v) end })
    arrays.close(attend("none"), attend(name), 1e-12)
    arrays.close(attend("roper"), attend(name .. "+roper"), 1e-12)
    local wrong = register({ transport = function(_, weights) return weights end })
    local _, message = pcall(attend, wrong)
    assert.truthy(message:find(("position: %s: transport: expected float64 [2, 3, 6, 8], got "
      .. "float64 [2, 3, 6, 6]"):format(wrong), 1, true), message)
  end)

  it("can multiply the scores of each query, with any rotation and before biases", function()
    local factor = { query_scale = function(_, q) return q:exp():mean(4, true) end }
    local name = register(factor)
    local function expected(position)
      local how = { position = position, causal = true }
      local s = scores_of(Q, K, how) * factor.query_scale(nil, Q)
      local seen = roper.ones({ T, T }):tril():ne(0)
      return roper.where(seen, s, -math.huge):softmax(4)
    end
    for _, position in ipairs({ "none", "rope", "roper", "learned_frequencies", "pope" }) do
      for _, by in ipairs({ roper.attention_weights, function(q, k, how)
        return select(2, roper.eager.attention(q, k, V, how))
      end }) do
        arrays.close(expected(position),
          by(Q, K, { position = position .. "+" .. name, causal = true }), 1e-12, position)
      end
    end
    local both = name .. "+alibi"
    local s = scores_of(Q, K, { position = both })
    local c = scores_of(Q * 0, K, { position = "alibi" })
    arrays.close(scores_of(Q, K) * factor.query_scale(nil, Q) + c, s, 1e-12)
  end)

  it("can hide keys, together with a mask", function()
    local own = roper.tensor({ 1, 0, 1, 1, 1, 0 }, "int32")
    local name = register({ mask = function() return own end })
    local other = roper.tensor({ 1, 1, 1, 0, 1, 1 }, "int32")
    arrays.close(attend("rope", { mask = own * other }), attend("rope+" .. name, { mask = other }),
      1e-15)
    local _, weights = roper.eager.attention(Q, K, V, { position = name })
    assert.equal(0, weights:narrow(4, 6, 1):abs():max():item())
    local seen
    local reads = register({ query_scale = function(_, q, positions)
      seen = positions.mask
      return q:narrow(4, 1, 1) * 0 + 1
    end })
    attend(name .. "+" .. reads, { mask = other })
    assert.same({ 1, 0, 1, 0, 1, 0 }, seen:totable())
  end)

  it("passes the input of the layer to every method", function()
    local found = {}
    local scheme = {}
    for _, method in ipairs({ "turns", "values", "carry" }) do
      scheme[method] = function(_, ...)
        found[method] = select(select("#", ...), ...)
        if method == "values" then
          return function(distance) return roper.zeros({ 1, distance:count(), D }, "float64") end
        end
        return method == "carry" and roper.zeros({ B, H, T, D }, "float64") or nil
      end
    end
    attend(register(scheme))
    assert.same({ X, X, X }, { found.turns, found.values, found.carry })
  end)

  it("is not combined with another that does the same", function()
    local scores = register({ scores = function(_, q, k) return q:matmul(k:transpose(3, 4)) end })
    local again = register({ scores = function(_, q, k) return q:matmul(k:transpose(3, 4)) end })
    for position, message in pairs({
      [scores .. "+" .. again] = ("position: %s and %s both replace the scores; at most one scheme "
        .. "of a combination can"):format(scores, again),
      ["rope+" .. scores] = ('position: rotary rotates "q", but %s replaces the products of '
        .. "queries and keys; combine at most one of the two"):format(scores) }) do
      local ok, got = pcall(attend, position)
      assert.is_false(ok)
      assert.equal(message, got:match("position: .*"))
    end
  end)

  it("can be combined with any number of biases", function()
    for _, name in ipairs({ "fox+fox+alibi", "path{gate=true}+alibi+shaw+fox",
      "cope+t5+fox+fire" }) do
      local context = { dim = D, heads = H, d_model = H * D }
      roper.seed(2)
      local how = { position = roper.position.resolve(name, context), causal = true,
        input = X, bias = roper.randn({ T, T }, "float64") }
      arrays.close(roper.eager.attention(Q, K, V, how), roper.attention(Q, K, V, how), 1e-12)
    end
  end)

  it("can accumulate values, also if only queries are rotated", function()
    for _, letters in ipairs({ "qkvo", "q", "v" }) do
      local name = register({ state = { "step" }, turns = function(self, part, positions, x)
        local sum = positions:accumulate(self, "step", x, function() return x:narrow(3, 1, 1) end)
        sum = (part == "q" or part == "o") and positions:of_queries(sum, 2) or sum
        return letters:find(part) and sum:unsqueeze(2) or nil
      end })
      local findings = roper.position.check(name)
      assert(findings.ok, tostring(findings))
    end
  end)

  describe("with a state", function()
    local function refused(message, position, how)
      local ok, got = pcall(attend, position, how)
      assert.is_false(ok)
      assert.equal(message, got:match("position: .*"))
    end

    it("needs causal attention and a token of input for each key", function()
      local name = register(counted())
      refused(("position: %s: expected causal attention, got attention that is not; pass causal = "
        .. "true"):format(name), name, { causal = false })
      assert.error_matches(function()
        roper.attention(Q, K, V, { position = name, causal = true })
      end, "expected the input of the layer, got none; use " .. name .. " in a model, or pass the "
        .. "option input")
      refused(("position: %s: expected an input of floats, got int32"):format(name), name,
        { input = roper.zeros({ B, T, 24 }, "int32") })
      refused(("position: %s: expected an input [2, 6, d_model], one token for each key, got "
        .. "[2, 5, 24]"):format(name), name, { input = X:narrow(2, 1, 5) })
      Q = Q:narrow(3, 5, 2)
      assert.same({ B, H, 2, D }, attend(name):shape())
    end)

    it("has d_model from the input if its scheme is a name", function()
      for _, name in ipairs({ "fox", "selective{rotate=qkvo}", "path+window{size=2}" }) do
        assert.same({ B, H, T, D }, attend(name):shape())
      end
    end)

    it("must declare it", function()
      local scheme = counted()
      scheme.state = { "sums" }
      local name = register(scheme)
      refused(('position: %s: expected one of the names in its state, got "sum"; did you mean '
        .. '"sums"?'):format(name), name)
    end)

    it("must declare that it has one", function()
      local name = register({ bias = function(self, _, _, positions, x)
        return positions:keep(self, "a", x, function() return x end)
      end })
      refused(("position: %s: expected a scheme that declares what it keeps, got none; add "
        .. 'state = {"a"}'):format(name), name)
    end)

    it("must have a value for each token", function()
      for _, method in ipairs({ "keep", "accumulate" }) do
        for got, values in pairs({ ["[2, 24]"] = function(x) return x:sum(2) end,
          ["nil"] = function() end, number = function() return 3 end }) do
          local name = register({ state = { "a" }, bias = function(self, _, _, positions, x)
            return positions[method](positions, self, "a", x, function() return values(x) end)
          end })
          refused(("position: %s: state: expected a of shape [2, 6, ...], got %s"):format(name,
            got), name)
        end
      end
    end)

    it("is found with the reason if it is not kept, and selects the queries of all keys", function()
      local name = register({ relative = true, turns = function(_, part, positions, x)
        local sums = x:narrow(3, 1, 1):squeeze(3):to("float64"):cumsum(2)
        sums = (part == "q" or part == "o") and positions:of_queries(sums, 2) or sums
        return sums:unsqueeze(2):unsqueeze(4) * theta(D // 2)
      end })
      local findings = roper.position.check(name)
      assert.same({ "cache", "cache moved", "prompts" }, findings.failed)
      for _, finding in ipairs(findings) do
        assert.truthy(finding.ok or finding.message:find("one for each key, got .*keep those of "
          .. "earlier ones with positions:keep"), finding.message)
      end
    end)

    it("is found with the reason if a cache gets angles of the new tokens alone", function()
      local name = register({ relative = true, turns = function(_, part, positions, x)
        local sums = x:narrow(3, 1, 1):squeeze(3):to("float64"):cumsum(2)
        if part == "q" or part == "o" then
          sums = sums:narrow(2, x:size(2) - positions.queries + 1, positions.queries)
        end
        return sums:unsqueeze(2):unsqueeze(4) * theta(D // 2)
      end })
      local findings = roper.position.check(name)
      assert.same({ "cache", "cache moved", "prompts" }, findings.failed)
      assert.truthy(tostring(findings):find(
        'for "k", got float64 [2, 1, 1, 4]; keep those of earlier tokens with positions:keep', 1,
        true), tostring(findings))
    end)

    it("computes it once in each call", function()
      local calls = 0
      local name = register({ state = { "a" }, turns = function(self, _, positions, x)
        positions:keep(self, "a", x, function()
          calls = calls + 1
          return x
        end)
      end })
      attend(name)
      assert.equal(1, calls)
    end)
  end)
end)
