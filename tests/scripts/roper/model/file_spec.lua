local arrays = require("tests.arrays")
local core = require("roper.core")
local models = require("tests.models")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")

before_each(scratch.create)
after_each(scratch.remove)

describe("checkpoint.save and load", function()
  after_each(function() roper.memory_limit(0) end)

  it("keep tensors and metadata", function()
    local path = scratch.path("a.npy")
    local x = roper.randn({ 2, 3 })
    roper.save(path, x)
    assert.same(x:totable(), roper.load(path):totable())
    assert.equal(1, select("#", roper.load(path)))
    path = scratch.path("a.safetensors")
    roper.save(path, { x = x, n = roper.tensor({ 1, 2 }, "int32") }, { note = "text" })
    local tensors, metadata = roper.load(path)
    assert.same(x:totable(), tensors.x:totable())
    assert.equal("int32", tensors.n:dtype())
    assert.same({ note = "text" }, metadata)
  end)

  it("keep the tensors of other modules than Transformer", function()
    local path = scratch.path("linear.safetensors")
    local linear = roper.nn.Linear({ inputs = 3, outputs = 2 })
    linear:save(path)
    local tensors = roper.load(path)
    assert.same(linear.weight:totable(), tensors.weight:totable())
    assert.same(linear.bias:totable(), tensors.bias:totable())
  end)

  it("create a model of a custom class again", function()
    local function define()
      local Own = roper.nn.class("OwnSpec")
      function Own:init(o)
        self.inner = roper.nn.MultiHeadAttention({ d_model = o.d_model, heads = 2,
          position = o.position })
        self.logits = roper.nn.Linear({ inputs = o.d_model, outputs = o.vocabulary })
        o.d_model = nil -- does not change what is saved
      end
      return Own
    end
    local path = scratch.path("own.safetensors")
    local own = define()({ d_model = 8, vocabulary = 3, position = { type = "rope", base = 50 } })
    own:save(path)
    local loaded = roper.load(path)
    assert.equal("OwnSpec", getmetatable(loaded).name)
    assert.same(models.values(own), models.values(loaded))
    assert.same({ type = "rope", base = 50 }, core.json_decode(select(2,
      core.load_safetensors(path)).options).position)
    define() -- the model is of another class now
    own:save(path)
    assert.is_nil(getmetatable((roper.load(path))))
    for _, options in ipairs({ { d_model = 8, vocabulary = 3, f = print },
                               { d_model = 8, vocabulary = 3, position = print } }) do
      local Own = define()
      function Own:init() self.logits = roper.nn.Linear({ inputs = 2, outputs = 2 }) end
      Own(options):save(path) -- these options cannot be saved
      assert.is_nil(getmetatable((roper.load(path))))
    end
  end)

  it("names the class that a file needs", function()
    local path = scratch.path("own.safetensors")
    core.save_safetensors(path, { x = roper.zeros({ 2 }) }, { roper = "model",
      class = "NeverDefined", options = "{}" })
    assert.error_matches(function() roper.load(path) end, "own.safetensors: needs the model class "
      .. "NeverDefined: define it first %(roper.nn.class%), in the shell with %-%-load FILE")
  end)

  it("are in the folder of a run, and in both of its files", function()
    local task = models.task({ seed = 1 })
    local model = models.small({ seed = 1, position = "learned", length = 80 })
    local folder = scratch.path("run")
    roper.train({ model = model, task = task, optimizer = roper.optim.Adam(), steps = 2, batch = 2,
      run = folder, progress = false, evaluate_every = 2, best = "x",
      evaluate = function() return { x = 1 } end })
    for _, path in ipairs({ folder, folder .. "/", folder .. "/checkpoint.safetensors",
                            folder .. "/best.safetensors" }) do
      assert.same(models.values(model), models.values(roper.load(path)))
    end
    -- As of a model without options.
    local path = folder .. "/checkpoint.safetensors"
    local tensors, metadata = core.load_safetensors(path)
    metadata.options = nil
    core.save_safetensors(path, tensors, metadata)
    assert.same({ tensors, metadata }, { roper.load(path) })
    assert.error_matches(function() roper.load(folder) end,
      "^load: .*/run/checkpoint.safetensors does not contain the options of its model; use "
        .. "roper.runs.model for a run of an experiment$")
    assert.error_matches(function() roper.load(scratch.path(".")) end,
      'cannot read ".*/checkpoint.safetensors"')
  end)

  it("refuse a loaded file with another content", function()
    local path, near = scratch.path("m.safetensors"), scratch.path("near.lua")
    local function call(code)
      return process.run({ "./roper", "-e",
        ("require('roper.options.load_option').run %q %s"):format(near, code:format(path)) })
    end
    scratch.write("near.lua", "roper.position.register('near', {})")
    assert.equal(0, (call("roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2, "
      .. "position = 'near'}:save %q")))
    assert.equal(0, (call("roper.load %q")))
    scratch.write("near.lua", "roper.position.register('near', {}) -- changed")
    local status, _, errors = call("roper.load %q")
    assert.equal(1, status)
    assert.matches("m.safetensors: made with near.lua %x+, now %x+; load the same files", errors)
  end)

  it("keep a custom module, whatever it and its fields are called", function()
    local Own = roper.nn.class("Transformer")
    function Own:init(width)
      self.options = { width = width }
      self.inner = roper.nn.Linear({ inputs = width, outputs = 2 })
    end
    local path, own = scratch.path("own.safetensors"), Own(3)
    own:save(path)
    assert.same({ "inner.bias", "inner.weight" }, tables.keys((roper.load(path))))
    assert.same(models.values(own), models.values(Own(3):load(path)))
    local other = Own(4)
    local before = models.values(other)
    assert.error_matches(function() other:load(path) end,
      "own.safetensors: belongs to another model: inner.weight is %[2, 4%] in this model, "
        .. "%[2, 3%] in the file")
    assert.same(before, models.values(other))
    own.options = "wide"
    assert.same({}, roper.checkpoint.options(own))
  end)

  it("reject a model that its options do not describe", function()
    local path = scratch.path("a.safetensors")
    local model = models.small()
    model.layers[2] = roper.nn.TransformerLayer({ d_model = 16, heads = 2 })
    model:save(path)
    local ok, message = pcall(roper.load, path)
    assert.is_false(ok)
    assert.equal(path .. ": belongs to another model: its options "
      .. "require layers.2.feed_forward.inner.weight to be [24, 16], but it is [64, 16]", message)
  end)

  it("reject options that do not match the tensors, before a model is created", function()
    local path = scratch.path("a.safetensors")
    local model = models.small()
    model:save(path)
    local tensors, metadata = core.load_safetensors(path)
    roper.memory_limit(roper.memory().live + 5000000) -- more would be refused
    local function refused(message, changes)
      local options = core.json_decode(metadata.options)
      for name, value in pairs(changes) do
        options[name] = value
      end
      core.save_safetensors(path, tensors, { roper = "model", options = core.json_encode(options) })
      local ok, got = pcall(roper.load, path)
      assert.is_false(ok)
      assert(got:find(path .. ": " .. message, 1, true) == 1, got)
    end
    local other = "belongs to another model: "
    local by = other .. "its options require "
    refused(by .. "layers.3.attention.query.weight to be [16, 16], but it is missing",
      { layers = 1 << 32 })
    refused(by .. "embedding.weight to be [1073741824, 16], but",
      { vocabulary = 1 << 30 })
    refused(by .. "embedding.weight to be [45, 1048576]", { d_model = 1 << 20 })
    refused(by .. "layers.1.feed_forward.inner.weight to be [1073741824, 16]",
      { d_ff = 1 << 30 })
    refused(other .. "layers.2.attention.key.bias is missing in this model, [16] in the file",
      { layers = 1 })
    refused("damaged: layers of its options: expected an integer, got x", { layers = "x" })
    refused("damaged: d_model of its options: expected an integer, got 16.5",
      { d_model = 16.5 })
    -- An axis of no length makes room for any other.
    tensors["embedding.weight"] = core.zeros({ 0, 1 << 20 })
    refused(by .. "embedding.weight to be [45, 1048576], but it is [0, 1048576]",
      { d_model = 1 << 20 })
    for _, options in ipairs({ "", "[", "5" }) do
      core.save_safetensors(path, tensors, { roper = "model", options = options })
      assert.has_error(function() roper.load(path) end, path .. ': metadata "options": expected a '
        .. "JSON object, got " .. options)
    end
    core.save_safetensors(path, tensors, { roper = "model" })
    assert.has_error(function() roper.load(path) end, path .. ': metadata "options": expected a '
      .. "JSON object, got none")
  end)

  it("name the file that they cannot read or write", function()
    for _, path in ipairs({ scratch.path("none.npy"), scratch.write("bad.safetensors", "x"),
                            scratch.path("") }) do
      local ok, message = pcall(roper.load, path)
      assert.is_false(ok)
      assert.truthy(message:find(path, 1, true), message)
    end
    local path = scratch.path("none/a.safetensors")
    local ok, message = pcall(roper.save, path, models.small())
    assert.is_false(ok)
    assert.truthy(message:find(path, 1, true), message)
    assert.error_matches(function() roper.save("a.txt", roper.ones({ 2 })) end,
                         'save: expected a path that ends in .npy or .safetensors, got "a.txt"')
  end)
end)

describe("settings of modules", function()
  local tokens = models.task():batch(2)
  local path

  before_each(function() path = scratch.path("settings.safetensors") end)

  local function logits(model)
    return roper.no_grad(model:training(false).forward, model, tokens)
  end

  local changes = {
    ["epsilon of a norm"] = function(model) model.norm.epsilon = 0.3 end,
    ["the scale of the embeddings"] = function(model) model.embedding.scale = 2 end,
    ["no scale of the embeddings"] = function(model) model.embedding.scale = nil end,
    ["an activation"] = function(model) model.layers[1].feed_forward.activation = "gelu" end,
    ["the place of a norm"] = function(model) model.layers[2].norm = "post" end,
    ["a parallel residual"] = function(model) model.layers[1].parallel_residual = true end,
    ["heads"] = function(model)
      local attention = model.layers[1].attention
      attention.heads, attention.kv_heads, attention.position = 4, 4, nil
    end,
    ["causal"] = function(model) model.layers[1].attention.causal = false end,
    ["a position scheme"] = function(model)
      model.layers[1].attention.position = roper.position.rope({ dim = 8, base = 7 })
    end,
    ["no position scheme"] = function(model) model.layers[2].attention.position = nil end,
    ["a scheme with trained tensors, shared"] = function(model)
      local scheme = roper.position.t5({ heads = 2 })
      for _, layer in ipairs(model.layers) do layer.attention.position = scheme end
    end,
    ["another norm of the same class"] = function(model)
      model.norm = roper.nn.LayerNorm({ features = 16, epsilon = 0.5 })
    end,
  }
  for name, change in pairs(changes) do
    it("are saved if they are assigned later: " .. name, function()
      local model = models.small({ tied_embeddings = true })
      local before = logits(model)
      change(model)
      local after = logits(model)
      assert.is_true(models.difference(before, after) > 1e-4)
      roper.save(path, model)
      local loaded = roper.load(path)
      arrays.close(after, logits(loaded), 0)
      roper.save(path, loaded) -- and again
      arrays.close(after, logits(roper.load(path)), 0)
    end)
  end

  it("are saved with dropout, which changes training", function()
    local model = models.small()
    model.layers[1].dropout, model.layers[2].feed_forward.dropout = 0.25, 0.5
    roper.save(path, model)
    local loaded = roper.load(path)
    assert.same({ 0.25, 0.5, 0 }, { loaded.layers[1].dropout, loaded.layers[2].feed_forward.dropout,
      loaded.layers[2].dropout })
  end)

  it("leave files of unchanged models as they were", function()
    roper.save(path, models.small())
    local _, metadata = roper.load_safetensors(path)
    assert.same({ "options", "roper" }, require("roper.base.tables").keys(metadata))
  end)

  it("do not include an edited table of options, which changes nothing", function()
    local model = models.small()
    model.options.activation, model.options.d_model = "gelu", 99
    roper.save(path, model)
    arrays.close(logits(model), logits(roper.load(path)), 0)
  end)

  it("do not include replaced methods and modules: loading refuses them by name", function()
    for name, change in pairs({
      ["layers.1.attention.attend"] = function(model)
        model.layers[1].attention.attend = function(_, inputs) return inputs.v end
      end,
      ["norm"] = function(model) model.norm = roper.nn.RMSNorm({ features = 16 }) end,
    }) do
      local model, same = models.small(), models.small()
      change(model)
      roper.save(path, model)
      local ok, message = pcall(roper.load, path)
      assert.is_false(ok)
      assert.is_truthy(message:find("a file cannot contain: " .. name .. ";", 1, true), message)
      change(same)
      arrays.close(logits(model), logits(same:load(path)), 0)
    end
  end)

  it("of a class of one's own are saved if it declares them", function()
    local Scaled = roper.nn.class("Scaled")
    Scaled.settings = { "factor", "kind" }
    function Scaled:init(factor)
      self.factor, self.kind, self.note = factor, "linear", "not saved"
      self.inner = roper.nn.LayerNorm({ features = 2 })
    end
    function Scaled:forward(x) return self.inner(x) * self.factor end
    local one, other = Scaled(3), Scaled(1)
    one.kind, one.note, one.inner.epsilon = nil, "changed", 0.5
    one:save(path)
    other:load(path)
    assert.same({ 3, nil, "not saved", 0.5 }, { other.factor, other.kind, other.note,
      other.inner.epsilon })
    local wrong = Scaled(1)
    wrong.inner = roper.nn.LayerNorm({ features = 3 })
    assert.error_matches(function() wrong:load(path) end, "belongs to another model")
    assert.same({ 1, 1e-5 }, { wrong.factor, wrong.inner.epsilon }) -- nothing was changed
    assert.error_matches(function() roper.nn.LayerNorm({ features = 2 }):load(path) end,
      "belongs to another model: factor is a setting in the file, but not in this model")
  end)

  it("are part of a training checkpoint, and of the configuration it must match", function()
    local function run(model, steps, resume)
      return roper.train({ model = model, task = models.task(), steps = steps, batch = 2,
        optimizer = roper.optim.SGD(), run = scratch.path("settings"), resume = resume,
        progress = false })
    end
    local model = models.small()
    model.norm.epsilon = 0.5
    run(model, 1)
    assert.error_matches(function() run(models.small(), 2, true) end,
      "has another configuration: settings is .*norm.epsilon")
    local same = models.small()
    same.norm.epsilon = 0.5
    assert.equal(2, run(same, 2, true).step)
  end)
end)
