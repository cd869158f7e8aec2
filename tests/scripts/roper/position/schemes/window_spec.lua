local arrays = require("tests.arrays")
local roper = require("roper")

describe("window", function()
  before_each(function() roper.seed(1) end)

  -- Which keys are seen, as rows of 0 and 1.
  local function seen(options, how)
    local q = roper.zeros({ 1, 1, how.queries or how.keys, 4 })
    local k = roper.zeros({ 1, 1, how.keys, 4 })
    local weights = roper.attention_weights(q, k, { position = options, causal = how.causal,
      mask = how.mask, key_positions = how.at, query_positions = how.query_at })
    local rows = {}
    for i, row in ipairs(weights[1][1]:gt(0):totable()) do
      rows[i] = table.concat(row)
    end
    return rows
  end

  it("hides the keys outside the window", function()
    assert.same({ "11000", "11100", "01110", "00111", "00011" },
      seen({ type = "window", size = 2 }, { keys = 5 }))
    assert.same({ "10000", "11000", "11100", "01110", "00111" },
      seen("window{size=3}", { keys = 5, causal = true }))
    assert.same({ "00110", "00011" }, seen("window{size=2}", { queries = 2, keys = 5,
      causal = true }))
    assert.same({ "100", "010", "001" }, seen("window{size=1}", { keys = 3 }))
    assert.same({ "100", "110", "111" }, seen("window", { keys = 3, causal = true }))
  end)

  it("measures distances between positions", function()
    local at = roper.tensor({ 0, 1, 3, 4, 7 })
    assert.same({ "10000", "11000", "01100", "00110", "00001" },
      seen("window{size=3}", { keys = 5, causal = true, at = at, query_at = at }))
  end)

  it("shows the first keys to all queries", function()
    assert.same({ "10000", "11000", "11100", "11110", "11011" },
      seen("window{size=2,sinks=2}", { keys = 5, causal = true }))
    assert.same({ "11000", "11100", "11110", "10111", "10011" },
      seen("window{size=2,sinks=1}", { keys = 5 }))
    assert.same({ "10", "11" }, seen("window{size=1,sinks=9}", { keys = 2, causal = true }))
  end)

  it("does not count hidden keys as the first ones", function()
    local hidden = roper.tensor({ 0, 0, 1, 1, 1, 1 }, "int32")
    assert.same({ "001000", "001100", "001110", "001011" }, seen("window{size=2,sinks=1}",
      { queries = 4, keys = 6, causal = true, mask = hidden }))
    assert.same({ "100", "010", "001" }, seen("window{size=1,sinks=1}", { keys = 3,
      mask = roper.tensor({ { 1, 1, 1 }, { 0, 1, 1 }, { 0, 0, 1 } }, "int32") }))
    assert.same({ "100", "110", "101" }, seen("window{size=1,sinks=1}", { keys = 3,
      mask = roper.tensor(1, "int32") }))
  end)

  -- The distances at which a token changes the logits of the last one.
  local function reach(position, with_cache)
    local model = roper.nn.Transformer({ vocabulary = 5, d_model = 16, heads = 2, layers = 2,
      d_ff = 16, position = position })
    local tokens = roper.tensor({ { 0, 3, 1, 4, 2, 2 } }, "int32")
    local function last(x)
      if not with_cache then
        return roper.no_grad(model, x):narrow(2, 6, 1)
      end
      local cache, y = model:cache({ batch = 1, length = 6 }), nil
      for _, part in ipairs({ { 1, 2 }, { 3, 1 }, { 4, 2 }, { 6, 1 } }) do
        y = roper.no_grad(model, x:narrow(2, part[1], part[2]), cache)
      end
      return y
    end
    local before, list = last(tokens), {}
    for distance = 0, 5 do
      local other = tokens:clone()
      other:narrow(2, 6 - distance, 1):fill((tokens[{ 1, 6 - distance }]:item() + 1) % 5)
      list[#list + 1] = (last(other) - before):abs():max():item() > 0 and distance or nil
    end
    return table.concat(list, " ")
  end

  it("limits what a layer sees; layers without it see all", function()
    for _, with_cache in ipairs({ false, true }) do
      assert.equal("0 1 2", reach("window{size=2}+rope", with_cache))
      assert.equal("0 1 2 3 4 5", reach({ "window{size=2}+rope", "rope" }, with_cache))
      assert.equal("0 1 2 5", reach("window{size=2,sinks=1}+roper", with_cache))
    end
  end)

  it("passes the battery without sinks, and in local and global layers", function()
    for _, name in ipairs({ "window{size=3}", "window{size=3}+rope{rotate=qkvo}" }) do
      local findings = roper.position.check(name)
      assert.is_true(findings.ok, tostring(findings))
    end
  end)

  it("combines windows, and equals attention with a mask", function()
    assert.same({ "100", "110", "011" }, seen("window{size=3}+window{size=2}", { keys = 3,
      causal = true }))
    local q = roper.randn({ 2, 3, 5, 4 }, "float64")
    local at = roper.arange(0, 5)
    local near = (at - at:view({ 5, 1 })):abs():lt(2)
    assert.equal("window{size=2}+rope:rope",
      roper.position.canonical("window{sinks=0,size=2}+rope:rope"))
    arrays.close(roper.attention(q, q, q, { position = "rope", mask = near }),
      roper.attention(q, q, q, { position = "rope+window{size=2}" }), 1e-12)
  end)

  it("rejects unsupported options and positions", function()
    local q = roper.randn({ 1, 2, 5, 4 })
    local function refused(message, position, positions)
      assert.error_matches(function()
        roper.attention(q, q, q, { position = position, positions = positions })
      end, message)
    end
    refused("window: option size: expected a positive integer, got 0", "window{size=0}")
    refused("window: option sinks: expected a non%-negative integer, got %-1", "window{sinks=-1}")
    refused("expected one number per position, got several coordinates", "window",
      roper.zeros({ 1, 5, 2 }))
  end)
end)
