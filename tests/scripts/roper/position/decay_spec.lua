local models = require("tests.models")
local roper = require("roper")

-- The trained tensors of schemes to which weight decay applies: the weights of linear layers.
local DECAYS <const> = {
  accumulated = { weight = true },
  selective = { down_weight = true, up_weight = true, convolution_weight = true },
  fox = { gate_weight = true },
  grape_ap = { path_weight = true },
  grape_m = { step_weight = true },
  path = { down_weight = true, up_weight = true, filter = true, beta_weight = true },
  fire = { inner_weight = true, outer_weight = true },
}

-- The names of the parameters that a step with weight decay and no gradient changes.
local function decayed(model, decay_on)
  local list = model:named_parameters()
  for _, entry in ipairs(list) do
    entry.tensor:fill(2)
    entry.tensor.grad = nil
    roper.sum(entry.tensor * 0):backward()
  end
  roper.optim.Adam({ rate = 0.1, decay = 0.5, decay_on = decay_on }):step(model:parameters())
  local changed = {}
  for _, entry in ipairs(list) do
    changed[entry.name] = (entry.tensor - 2):abs():max():item() > 0.05
  end
  return changed, list
end

describe("weight decay of matrices", function()
  for _, name in ipairs(roper.position.list()) do
    it("shrinks weights, embeddings and the tensors that " .. name .. " names", function()
      local changed, list = decayed(models.small({ position = name, length = 30 }), "matrices")
      for _, entry in ipairs(list) do
        local field = entry.name:match("%.position%.([%w_]+)$")
        local expected = entry.tensor:rank() > 1
        if field then
          expected = DECAYS[name] and DECAYS[name][field] or false
        end
        assert.equal(expected, changed[entry.name], entry.name)
      end
      for parameter, is_changed in pairs(decayed(models.small({ position = name, length = 30 }),
        "all")) do
        assert.is_true(is_changed, parameter)
      end
    end)
  end

  it("does not shrink tensors of joined schemes, nor replaced ones", function()
    local model = models.small({ position = "t5+kerple" })
    local parts = model.layers[1].attention.position.parts
    parts[1].table = roper.ones({ 32, 2 }):parameter()
    local changed = decayed(model, "matrices")
    assert.is_false(changed["layers.1.attention.position.parts.1.table"])
    assert.is_false(changed["layers.1.attention.position.parts.2.log_a"])
    assert.is_true(changed["layers.1.attention.query.weight"])
  end)

  it("shrinks the tensors that a custom scheme names", function()
    roper.position.register("decay_of_own", {
      takes = { heads = "size" },
      decays = { "weight", "several" },
      init = function(self)
        self.weight, self.slope = roper.ones({ 2, 2 }):parameter(), roper.ones({ 2, 1 }):parameter()
        self.several = { roper.ones({ 2, 2 }):parameter() }
        self.others = { roper.ones({ 2, 2 }):parameter() }
        self.net = roper.nn.Linear({ inputs = 2, outputs = 2 })
      end,
    })
    local changed = decayed(models.small({ position = "decay_of_own" }), "matrices")
    local prefix = "layers.1.attention.position."
    for name, expected in pairs({ weight = true, slope = false, ["several.1"] = true,
      ["others.1"] = false, ["net.weight"] = true, ["net.bias"] = false }) do
      assert.equal(expected, changed[prefix .. name], name)
    end
  end)

  it("rejects names without a tensor in the scheme", function()
    roper.position.register("decay_of_none", { decays = { "tabel" },
      init = function(self) self.table = roper.ones({ 2, 2 }):parameter() end })
    assert.error_matches(function() roper.position.decay_of_none() end,
      'position: decay_of_none: decays: expected names of its tensors, got "tabel"')
    assert.error_matches(function() roper.position.register("decay_wrong", { decays = true }) end,
      "position: decay_wrong: decays: expected a table, got true")
  end)
end)
