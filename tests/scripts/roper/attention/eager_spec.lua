local positions = require("tests.positions")
local roper = require("roper")

-- Options of attention for queries [2, 3, 5, 4] and keys [2, 3, 7, 4].
local function settings()
  return {
    {}, { causal = true }, { causal = true, offset = 7.5 },
    { query_positions = { 1, 5, 2, 8, 3.5 }, key_positions = roper.randn({ 2, 7 }) },
    { causal = true, mask = roper.rand({ 5, 7 }):gt(0.5) },
    { mask = roper.zeros({ 5, 7 }, "int32") },
    { dropout = 0.3, seed = 4, bias = roper.randn({ 7 }, "float64"), scale = 0.3 },
    { bias = { roper.randn({ 2, 3, 5, 1, 4 }, "float64"), roper.randn({ 3, 1, 7, 3 }, "float64")
      :unsqueeze(1), roper.randn({ 1, 1, 5, 7, 2 }, "float64") }, first = { -3, 4, 0 } },
  }
end

describe("eager.attention", function()
  before_each(function() roper.seed(1) end)

  it("is short enough to read", function()
    local count = 0
    for line in io.lines("scripts/roper/attention/eager.lua") do
      count = count + (line:match("^%s*%-%-") and 0 or line:match("%S") and 1 or 0)
    end
    assert.is_true(count < 60, count .. " lines")
  end)

  it("agrees with the fast attention in value and gradient", function()
    for _, position in ipairs({ "none", "rope", "roper", "alibi", "rope+alibi",
      { type = "roper", fraction = 0.5, last = true } }) do
      for _, options in ipairs(settings()) do
        options.position = position
        local found = {}
        for i, attention in ipairs({ roper.attention, roper.eager.attention }) do
          roper.seed(2)
          local inputs = {}
          for j, time in ipairs({ 5, 7, 7 }) do
            inputs[j] = roper.randn({ 2, 3, time, 4 }, "float64"):parameter()
          end
          local o = attention(inputs[1], inputs[2], inputs[3], options)
          o:backward(roper.randn(o:shape(), "float64"))
          found[i] = { o:detach(), inputs[1].grad, inputs[2].grad, inputs[3].grad }
        end
        for j = 1, 4 do
          local difference = (found[1][j] - found[2][j]):abs():max():item()
          assert.is_true(difference < 1e-13, ("%s: %g"):format(position, difference))
        end
      end
    end
  end)

  describe("agrees with the fast attention if values have fewer features than queries, or refuses "
    .. "them too, with", function()
    -- The schemes that need values of as many features as queries, besides those that rotate them.
    local NEEDS_ALL <const> = { roper = true, shaw = true, twice = true }
    for _, name in ipairs(positions.schemes()) do
      it(name, function()
        local takes = roper.position.takes(name)
        for _, rotate in ipairs({ false, takes.rotate and "qkvo" or nil }) do
          local scheme = roper.position.resolve({ type = name, rotate = rotate or nil },
            { dim = 8, heads = 2, d_model = 16, length = 8 })
          local q = roper.randn({ 1, 2, 5, 8 }, "float64")
          local v = roper.randn({ 1, 2, 5, 6 }, "float64")
          local options = { position = scheme, causal = true,
            input = type(scheme) == "table" and roper.randn({ 1, 5, 16 }, "float64") or nil }
          local is_refused = rotate or NEEDS_ALL[name] or false
          local fast = { pcall(roper.attention, q, q, v, options) }
          local eager = { pcall(roper.eager.attention, q, q, v, options) }
          assert.same({ not is_refused, not is_refused }, { fast[1], eager[1] })
          if is_refused then
            assert.matches("expected .* got", eager[2])
            assert.not_matches("mul: ", eager[2])
          else
            assert.is_true((fast[2] - eager[2]):abs():max():item() < 1e-13)
          end
        end
      end)
    end
  end)

  it("agrees with the fast attention if vectors are added to values", function()
    local shaw = roper.position.shaw({ dim = 4, clip = 2 })
    local turned = require("roper.position.join").join({ shaw, roper.position.roper({ dim = 4 }) })
    for _, position in ipairs({ shaw, turned }) do
      for _, options in ipairs(settings()) do
        options.position = position
        local found = {}
        for i, attention in ipairs({ roper.attention, roper.eager.attention }) do
          roper.seed(2)
          options.weights = true
          local inputs = { shaw.value, shaw.key }
          shaw.value.grad, shaw.key.grad = nil, nil
          for j, time in ipairs({ 5, 7, 7 }) do
            inputs[2 + j] = roper.randn({ 2, 3, time, 4 }, "float64"):parameter()
          end
          local o, weights = attention(inputs[3], inputs[4], inputs[5], options)
          o:backward(roper.randn(o:shape(), "float64"))
          found[i] = { o:detach(), weights:detach() }
          for _, input in ipairs(inputs) do
            table.insert(found[i], input.grad)
          end
        end
        for j = 1, 7 do
          local difference = (found[1][j] - found[2][j]):abs():max():item()
          local limit = (j == 3 or j == 4) and 1e-5 or 1e-13 -- float32 parameters
          assert.is_true(difference < limit, ("%d: %g"):format(j, difference))
        end
      end
    end
  end)

  it("agrees with the fast attention if a scheme rotates fewer features than its rotary", function()
    local q = roper.randn({ 1, 2, 5, 4 }, "float64")
    for letter in ("qkvo"):gmatch(".") do
      roper.position.register("less_" .. letter, {
        takes = { dim = "size" },
        init = function(self) self.turn = roper.position.roper({ dim = self.dim }) end,
        turns = function(self, part) return part == letter and self.turn or nil end,
      })
      local how = { position = "less_" .. letter }
      local eager, fast = roper.eager.attention(q, q, q, how), roper.attention(q, q, q, how)
      assert.is_true((eager - fast):abs():max():item() < 1e-13, letter)
    end
  end)

  it("returns differentiable weights", function()
    local q = roper.randn({ 1, 2, 4, 4 }, "float64")
    assert.is_true(roper.gradcheck(function(x)
      local _, weights = roper.eager.attention(x, x, x, { position = "alibi", causal = true })
      return weights
    end, { q }))
    local _, weights = roper.eager.attention(q, q, q, { position = "rope" })
    local expected = roper.attention_weights(q, q, { position = "rope" })
    assert.is_true((weights - expected):abs():max():item() < 1e-14)
  end)

  it("takes the declared options in each form of attention", function()
    local rows, q = require("roper.options.rows").rows, roper.randn({ 1, 1, 2, 4 })
    local oracle = roper.oracle
    local classes = { [roper.attention] = "AttentionOptions",
      [roper.attention_weights] = "AttentionOptions",
      [oracle.attention] = "AttentionOptions", [roper.linear_attention] = "LinearAttentionOptions",
      [oracle.linear_attention] = "LinearAttentionOptions" }
    for attention, class in pairs(classes) do
      local options = attention == roper.attention_weights and { q, q } or { q, q, q }
      options[#options + 1] = { unlike_any_other = 1 }
      local _, message = pcall(attention, table.unpack(options))
      local declared = {}
      for i, row in ipairs(rows(class)) do
        declared[i] = row[1]
      end
      table.sort(declared)
      assert.matches("unknown option unlike_any_other; it takes "
        .. table.concat(declared, ", ") .. "$", message)
    end
  end)
end)
