local checkpoint = require("roper.model.checkpoint")
local core = require("roper.core")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")
local train = require("roper.training")

before_each(scratch.create)
after_each(scratch.remove)

-- The state of a run after some steps.
local function make_state(seed, steps, options)
  local model = models.small({ seed = seed, dropout = 0.1 })
  local state = { model = model, task = models.task({ seed = seed }), steps = 100, step = steps,
    optimizer = roper.optim.Adam(), sum = steps / 3, count = steps,
    config = { experiment = "test", rate = 1e-3, task = { length = 30, name = "x" } } }
  for name, value in pairs(options or {}) do
    state[name] = value
  end
  for _ = 1, steps do
    model:zero_gradients()
    train.loss(model, state.task:batch(2)):backward()
    state.optimizer:step(model:parameters())
  end
  return state
end

-- All that a checkpoint holds, as plain values.
local function contents(state)
  local moments = {}
  for i, list in pairs(state.optimizer.state) do
    moments[i] = { mean = list.mean:totable(), variance = list.variance:totable() }
  end
  return { parameters = models.values(state.model), moments = moments,
    optimizer_count = state.optimizer.count, task = { state.task:random() },
    random = { roper.random_state() }, step = state.step, sum = state.sum, count = state.count }
end

local function same_bytes(a, b)
  return scratch.read(scratch.path(a)) == scratch.read(scratch.path(b))
end

-- Check that loading fails with a message that holds `expected`, and changes nothing.
local function assert_refused(path, state, expected)
  local before, bytes = contents(state), scratch.read(path)
  local ok, message = pcall(checkpoint.load_training, path, state)
  assert.is_false(ok)
  assert.truthy(message:find(path, 1, true), message)
  assert.truthy(message:find(expected, 1, true), message)
  assert.same(before, contents(state))
  assert.is_true(bytes == scratch.read(path))
end

describe("checkpoint.save_training and load_training", function()
  it("keep the whole state of a run", function()
    local path = scratch.path("a.safetensors")
    local state = make_state(1, 3)
    checkpoint.save_training(path, state)
    local saved = contents(state)
    local other = make_state(2, 1)
    assert.not_same(saved, contents(other))
    checkpoint.load_training(path, other)
    assert.same(saved, contents(other))
    -- The two go on alike.
    for _, one in ipairs({ state, other }) do
      roper.random_state(table.unpack(saved.random))
      one.model:zero_gradients()
      train.loss(one.model, one.task:batch(2)):backward()
      one.optimizer:step(one.model:parameters())
    end
    assert.same(contents(state), contents(other))
  end)

  it("write the same bytes for the same state", function()
    for i = 1, 2 do
      checkpoint.save_training(scratch.path(i .. ".safetensors"), make_state(5, 2))
    end
    assert.is_true(same_bytes("1.safetensors", "2.safetensors"))
    local state = make_state(6, 2)
    checkpoint.load_training(scratch.path("1.safetensors"), state)
    checkpoint.save_training(scratch.path("3.safetensors"), state)
    assert.is_true(same_bytes("1.safetensors", "3.safetensors"))
  end)

  it("save the moments of an optimizer only", function()
    local function refusal(optimizer)
      return select(2, pcall(checkpoint.save_training, scratch.path("a.safetensors"),
        make_state(1, 0, { optimizer = optimizer })))
    end
    assert.matches("state.optimizer: expected an optimizer, got a table",
      refusal({ count = 0, state = {} }), 1, true)
    for text, state in pairs({ ["an index: expected a positive integer, got \"x\""] = { x = {} },
      ["element 2: expected a table, got a function"] = { [2] = print },
      ["expected a tensor"] = { { velocity = 1 } } }) do
      local optimizer = roper.optim.SGD()
      optimizer.state = state
      assert.matches(text, refusal(optimizer), 1, true)
    end
  end)

  it("keep the velocity of SGD", function()
    local path = scratch.path("a.safetensors")
    local state = make_state(1, 2, { optimizer = roper.optim.SGD({ momentum = 0.9 }) })
    checkpoint.save_training(path, state)
    local other = make_state(2, 0, { optimizer = roper.optim.SGD({ momentum = 0.9 }) })
    checkpoint.load_training(path, other)
    for i, list in ipairs(state.optimizer.state) do
      assert.same(list.velocity:totable(), other.optimizer.state[i].velocity:totable())
    end
  end)

  it("reject a file that is truncated at any byte, or too long", function()
    local state = make_state(1, 2)
    checkpoint.save_training(scratch.path("whole.safetensors"), state)
    local bytes = scratch.read(scratch.path("whole.safetensors"))
    local header = 8 + ("<I8"):unpack(bytes)
    local cuts = { 0, 1, 7, 8, 9, header // 2, header - 1, header, header + 1, #bytes - 1 }
    local seed = os.time()
    math.randomseed(seed)
    for i = 1, 10 do
      cuts[#cuts + 1] = math.random(#bytes) - 1
      assert(cuts[i] < #bytes, "seed " .. seed)
    end
    for _, cut in ipairs(cuts) do
      assert_refused(scratch.write("cut.safetensors", bytes:sub(1, cut)), state, "cut.safetensors")
    end
    assert_refused(scratch.write("cut.safetensors", bytes .. "\0"), state, "cut.safetensors")
  end)

  it("reject other files", function()
    local state = make_state(1, 1)
    local path = scratch.path("other.safetensors")
    state.model:save(path)
    assert_refused(path, state, "expected a training checkpoint, got another safetensors file")
    roper.save(path, { a = roper.ones({ 2 }) })
    assert_refused(path, state, "expected a training checkpoint, got another safetensors file")
    assert_refused(scratch.write("text", ("text "):rep(50)), state, "load_safetensors")
    local none = scratch.path("none")
    local ok, message = pcall(checkpoint.load_training, none, state)
    assert.is_false(ok)
    assert.truthy(message:find(none, 1, true))
  end)

  it("reject a checkpoint of another configuration, and name the difference", function()
    local path = scratch.path("a.safetensors")
    local state = make_state(1, 2)
    checkpoint.save_training(path, state)
    for expected, change in pairs({
      ["another configuration: rate is 0.001 in the file, 0.003 in this run"] =
        function(config) config.rate = 3e-3 end,
      ["another configuration: task.length is 30 in the file, 31 in this run"] =
        function(config) config.task.length = 31 end,
      ["another configuration: rotate is nil in the file, qk in this run"] =
        function(config) config.rotate = "qk" end,
      ["another configuration: experiment is test in the file, nil in this run; "
        .. "rate is 0.001 in the file, 1 in this run"] =
        function(config) config.experiment, config.rate = nil, 1 end,
    }) do
      local other = make_state(2, 1)
      change(other.config)
      assert_refused(path, other, expected)
    end
  end)

  it("treat a missing switch as off", function()
    local path = scratch.path("a.safetensors")
    checkpoint.save_training(path, make_state(1, 2))
    local other = make_state(2, 1)
    other.config.rotate, other.config.task.coupled = false, false
    checkpoint.load_training(path, other)
    assert.equal(2, other.step)
    other.config.task.coupled = true
    assert_refused(path, other, "another configuration: task.coupled is nil in the file, true in "
      .. "this run")
  end)

  it("reject a model of another shape", function()
    local path = scratch.path("a.safetensors")
    local state = make_state(1, 2)
    checkpoint.save_training(path, state)
    assert_refused(path, make_state(1, 1, { model = models.small({ layers = 3 }) }),
      "belongs to another model: layers.3.attention.key.bias is [16] in this "
        .. "model, missing in the file")
    local wide = models.small()
    wide.logits = roper.nn.Linear({ inputs = 16, outputs = 9 })
    local other = make_state(1, 0, { model = wide })
    assert_refused(path, other,
      "belongs to another model: logits.bias is [9] in this model, [45] in the file")
  end)

  -- A checkpoint after `change` was given its tensors and metadata, as tables.
  local function changed(state, change)
    local path = scratch.path("changed.safetensors")
    checkpoint.save_training(path, state)
    local tensors, metadata = core.load_safetensors(path)
    local facts = { config = core.json_decode(metadata.config),
      state = core.json_decode(metadata.state) }
    change(tensors, facts)
    for name, value in pairs(facts) do
      metadata[name] = type(value) == "string" and value or core.json_encode(value)
    end
    core.save_safetensors(path, tensors, metadata)
    return path
  end

  it("take options of model and optimizer that did not exist yet for their defaults", function()
    local state = make_state(1, 2)
    state.config.model = checkpoint.options(state.model)
    state.config.optimizer = { name = "Adam", beta1 = 0.9 }
    local path = changed(state, function(_, facts)
      facts.config.model.norm, facts.config.optimizer.beta1 = nil, nil
    end)
    local other = make_state(2, 1, { config = state.config })
    checkpoint.load_training(path, other)
    assert.equal(2, other.step)
    other.config.model.norm = "post"
    assert_refused(path, other,
      "another configuration: model.norm is pre in the file, post in this run")
  end)

  it("reject parameters of another dtype, and unknown ones", function()
    local state = make_state(1, 2)
    assert_refused(changed(state, function(tensors)
      tensors["model.logits.bias"] = tensors["model.logits.bias"]:to("float64")
    end), state, "another model: logits.bias is float32 [45] in this model, "
      .. "float64 [45] in the file")
    assert_refused(changed(state, function(tensors)
      tensors["model.more"] = core.zeros({ 3 })
    end), state, "another model: more is missing in this model, [3] in the file")
    local linear = roper.nn.Linear({ inputs = 2, outputs = 1 })
    assert.has_error(function()
      checkpoint.load_state("a file", linear, "", { weight = core.zeros({ 1, 2 }, "int32"),
        bias = core.zeros({ 1 }) })
    end, "a file: belongs to another model: weight is float32 [1, 2] in this model, "
      .. "int32 [1, 2] in the file")
  end)

  it("reject the state of another optimizer, before anything is loaded", function()
    for expected, change in pairs({
      ["optimizer.1.mean is [45, 16] in this model, [3] in the file"] = function(tensors)
        tensors["optimizer.1.mean"] = core.zeros({ 3 })
      end,
      ["optimizer.1.mean is float32 [45, 16] in this model, float64"] = function(tensors)
        tensors["optimizer.1.mean"] = tensors["optimizer.1.mean"]:to("float64")
      end,
      ["optimizer.2: expected variance, got none"] = function(tensors)
        tensors["optimizer.2.variance"] = nil
      end,
      ["optimizer.2.velocity: expected mean, variance"] = function(tensors)
        tensors["optimizer.2.velocity"] = tensors["optimizer.2.mean"]
      end,
      ["optimizer.99.mean: expected only parameters of the model and moments"] = function(tensors)
        tensors["optimizer.99.mean"] = core.zeros({ 16 })
      end,
      ["optimizer.01.mean: expected only parameters of the model and moments"] = function(tensors)
        tensors["optimizer.01.mean"] = core.zeros({ 16 })
      end,
      ["more: expected only parameters of the model and moments"] = function(tensors)
        tensors.more = core.zeros({ 16 })
      end,
    }) do
      local state = make_state(1, 2)
      assert_refused(changed(state, change), make_state(2, 1), expected)
    end
    local sgd = roper.optim.SGD({ momentum = 0.9 })
    local ok, message = pcall(checkpoint.load_training, changed(make_state(1, 2), function() end),
      make_state(1, 2, { optimizer = sgd }))
    assert.is_false(ok)
    assert.matches("optimizer%.%d+: expected velocity, got none$", message)
  end)

  it("reject a damaged state and configuration", function()
    local null, state = core.json_null, make_state(1, 2)
    for name, values in pairs({ step = { null, "2", -1, 1.5, {} }, count = { null, {}, -1 },
      sum = { null, "1" }, optimizer_count = { null, 0.5 }, task = { null, 1, { 1 }, { 1, "2" },
      { 1, 2, 3 } }, random = { "x", { 1.5, 2 } } }) do
      for _, value in ipairs(values) do
        assert_refused(changed(state, function(_, facts)
          facts.state[name] = value
        end), state, ("damaged: %s of its state: expected "):format(name))
      end
      assert_refused(changed(state, function(_, facts)
        facts.state[name] = nil
      end), state, ("damaged: %s of its state: expected "):format(name))
    end
    for _, name in ipairs({ "config", "state" }) do
      for _, text in ipairs({ "", "{", "5", '"x"', "null" }) do
        assert_refused(changed(state, function(_, facts)
          facts[name] = text
        end), state, ('metadata "%s": expected a JSON object, got %s'):format(name, text))
      end
    end
    assert_refused(changed(state, function(_, facts)
      facts.config.task = 5
    end), state, "task is 5 in the file, {")
  end)

  it("reject a checkpoint after the last step", function()
    local path = scratch.path("a.safetensors")
    checkpoint.save_training(path, make_state(1, 3))
    assert_refused(path, make_state(2, 1, { steps = 2 }),
      "expected a checkpoint of step 2 or before, got step 3")
    local same = make_state(2, 1, { steps = 3 })
    checkpoint.load_training(path, same)
    assert.equal(3, same.step)
  end)

  it("keep the old file if the new one cannot be written", function()
    local path = scratch.path("a.safetensors")
    local state = make_state(1, 1)
    checkpoint.save_training(path, state)
    local bytes = scratch.read(path)
    state.config.bad = print
    assert.has_error(function() checkpoint.save_training(path, state) end)
    assert.is_true(bytes == scratch.read(path))
    assert.same({ "a.safetensors" }, scratch.list())
  end)
end)

describe("without memory", function()
  after_each(function() core.memory_fail_after(-1) end)

  it("a checkpoint stays valid if an allocation fails while the next is written", function()
    local path, state = scratch.path("a.safetensors"), make_state(1, 1)
    checkpoint.save_training(path, state)
    local old = scratch.read(path)
    state.step = 2
    checkpoint.save_training(scratch.path("b.safetensors"), state)
    local allowed, ok, message = -1
    repeat
      allowed = allowed + (allowed < 100 and 1 or 7)
      core.memory_fail_after(allowed)
      ok, message = pcall(checkpoint.save_training, path, state)
      core.memory_fail_after(-1)
      if not ok then
        assert.matches("out of memory: asked for %d+ bytes", message)
        assert.is_true(scratch.read(path) == old)
      end
    until ok
    assert.is_true(allowed > 100)
    assert.is_true(same_bytes("a.safetensors", "b.safetensors"))
    assert.same({ "a.safetensors", "b.safetensors" }, scratch.list())
  end)
end)
