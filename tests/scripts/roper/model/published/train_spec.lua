-- Training that starts from a published model, and writing its result in the same form.

local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local models = require("tests.models")
local origin = require("roper.workbench.study.run.origin")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")
local uv = require("luv")

local TOKENIZERS <const> = "tests/fixtures/published/tokenizers/"

describe("a run from a published model", function()
  local folder, fields

  before_each(function()
    scratch.create()
    folder = scratch.path("model")
    roper.seed(3)
    local model = roper.nn.Transformer({ vocabulary = 330, d_model = 16, heads = 4, kv_heads = 2,
      layers = 2, d_ff = 24, logits_bias = "none", rms_norm = true, activation = "swiglu",
      attention_bias = "none", feed_forward_bias = "none", norm_epsilon = 1e-6,
      position = { type = "yarn", base = 500000, factor = 4, trained_length = 64 } })
    roper.export(model, folder)
    local config = files.decode(folder .. "/config.json")
    config.bos_token_id, config.eos_token_id, config.max_position_embeddings = 1, 2, 4096
    config.dtype, config.torch_dtype, config.transformers_version = "bfloat16", nil, "5.0.0"
    config.head_dim, config.initializer_range = 4, 0.01
    config.rope_parameters = config.rope_scaling
    config.rope_parameters.rope_theta = config.rope_theta
    config.rope_scaling, config.rope_theta = nil, nil
    files.write(folder .. "/config.json", core.json_encode(config))
    files.write(folder .. "/tokenizer.json", files.read(TOKENIZERS .. "mistral.json"))
    files.write(folder .. "/tokenizer_config.json", '{"chat_template":   "x"}\n')
    files.write(folder .. "/generation_config.json", '{"temperature": 0.70}')
    files.write(folder .. "/chat_template.jinja", "{{ x }}\n")
    files.write(folder .. "/notes.md", "not a file of the model")
    scratch.write("text.txt", ("the cat sat on the mat\n\nthe dog sat\n\n"):rep(30))
    fields = { preset = "smoke", from = folder, files = scratch.path("text.txt"), length = 9,
      documents = "paragraphs", steps = 4, batch = 2, evaluate_every = 4, checkpoint_every = 4 }
  end)
  after_each(scratch.remove)

  local function configure(changes)
    for name, value in pairs(changes or {}) do
      fields[name] = value
    end
    return experiment.configure("language_model", fields)
  end

  it("has the sizes, norms, scheme and tokenizer of the model, not those of a preset", function()
    local config = configure()
    assert.same({ 16, 4, 2, 2, 24, true, "swiglu", "none", "none", "none", 1e-6, folder,
      "yarn{base=500000,factor=4,trained_length=64}" }, { config.d_model, config.heads,
      config.kv_heads, config.layers, config.d_ff, config.rms_norm, config.activation,
      config.attention_bias, config.feed_forward_bias, config.logits_bias, config.norm_epsilon,
      config.tokenizer, config.position })
    assert.same({ 4, 2, 9 }, { config.steps, config.batch, config.length })
    assert.same({}, experiment.changes(config))
  end)

  it("lists the fields that differ, and the weights without a place", function()
    local config = origin.complete(configure({ position = "roper", d_ff = 32, layers = 1 }))
    local changes = experiment.changes(config)
    table.sort(changes)
    assert.same({ "d_ff=32 (24 there)", "layers=1 (2 there)",
      "position=roper (yarn{base=500000,factor=4,trained_length=64} there)" },
      changes)
    local model = experiment.build(config).model
    local found, note = origin.load(config, model)
    assert.same({ 9, 3, 12 }, { #found.taken, #found.new, #found.unused })
    assert.matches("set otherwise: ", note, 1, true)
    assert.matches("d_ff=32 (24 there)", note, 1, true)
    assert.matches("layers.2.attention.key.weight [8, 16]", note, 1, true)
  end)

  it("takes the positions that a model with learned embeddings has too", function()
    os.execute(("rm -rf '%s'"):format(folder))
    roper.seed(4)
    roper.export(roper.nn.Transformer({ vocabulary = 330, d_model = 16, heads = 4, layers = 1,
      logits_bias = "none", activation = "gelu_tanh", position = "learned", length = 12 }), folder)
    files.write(folder .. "/tokenizer.json", files.read(TOKENIZERS .. "mistral.json"))
    local config_there = files.decode(folder .. "/config.json")
    config_there.eos_token_id = 2
    files.write(folder .. "/config.json", core.json_encode(config_there))
    local there = roper.import(folder).layers[1].attention.position.table
    for _, length in ipairs({ 9, 12, 20 }) do
      local config = origin.complete(configure({ length = length }))
      local model = experiment.build(config).model
      local position_table = model.layers[1].attention.position.table
      local before = position_table:detach():clone()
      local found, note = origin.load(config, model)
      local here, count = position_table:size(1), math.min(position_table:size(1), 12)
      assert.same({}, found.new)
      assert.equal(0, models.difference(position_table:narrow(1, 1, count),
        there:narrow(1, 1, count)))
      if here > 12 then
        assert.equal(0, models.difference(position_table:narrow(1, 13, here - 12),
          before:narrow(1, 13, here - 12)))
      end
      assert.equal(here ~= 12, note:find(("; in part: layers.1.attention.position.table "
        .. "(positions 0 to %d; 12 there, %d here)"):format(count - 1, here), 1, true) ~= nil)
      assert.equal(here == 12 and 0 or 1, #found.partly)
    end
  end)

  it("is identified by the weights of the model", function()
    local first = origin.complete(configure())
    assert.matches("^model weights %x+$", first.origin)
    assert.equal(first.origin, origin.complete(configure()).origin)
    local tensors = core.load_safetensors(folder .. "/model.safetensors")
    tensors["model.norm.weight"] = tensors["model.norm.weight"] * 2
    core.save_safetensors(folder .. "/model.safetensors", tensors, { format = "pt" })
    assert.not_equal(first.origin, origin.complete(configure()).origin)
    assert.error_matches(function() origin.load(first, experiment.build(first).model) end,
      "has other weights")
  end)

  local function roper_command(...)
    local status, output, errors = process.run({ "sh", "-c", 'cd "$0" && exec "$@"',
      scratch.path("."), uv.fs_realpath("roper"), ... })
    assert.equal(0, status, errors)
    return output .. errors
  end

  it("is written again with everything that the model had", function()
    local words = { "train", "language_model" }
    for name, value in pairs(fields) do
      words[#words + 1] = ("%s=%s"):format(name, value)
    end
    local output = roper_command(table.unpack(words))
    assert.matches("starts from .*: 21 of 21 parameters taken; the optimizer starts fresh", output)
    local run = files.names(scratch.path("runs"))[1]
    os.rename(folder, folder .. "-moved") -- the run has all that it needs
    roper_command("export", "runs/" .. run, "out")
    for _, name in ipairs({ "tokenizer.json", "tokenizer_config.json", "generation_config.json",
      "chat_template.jinja" }) do
      assert.equal(scratch.read(folder .. "-moved/" .. name),
        scratch.read(scratch.path("out/" .. name)))
    end
    assert.is_nil(files.stat(scratch.path("out/notes.md")))
    local before = files.decode(folder .. "-moved/config.json")
    before.dtype = "float32"
    assert.same(before, files.decode(scratch.path("out/config.json")))
    local trained = roper.import(scratch.path("out"))
    local task_model = roper.load(scratch.path("runs/" .. run .. "/checkpoint.safetensors"))
    local tokens = roper.tensor({ { 1, 100, 5, 329 } }, "int32")
    assert.is_true(models.difference(trained(tokens), task_model(tokens)) < 1e-5)
    assert.matches("cat", roper_command("sample", "runs/" .. run, "the cat", "--tokens", "2"))
  end)

  it("writes only the fields of what was changed", function()
    roper.seed(4)
    local model = roper.import(folder)
    for _, layer in ipairs(model.layers) do
      layer.attention.position = roper.position.rope({ dim = 4, base = 777 })
    end
    local options = model.options
    options.position = { type = "rope", base = 777 }
    local changed = roper.nn.Transformer(options)
    roper.export(changed, scratch.path("out"), { like = folder, length = 99 })
    local content = files.decode(scratch.path("out/config.json"))
    assert.same({ 777.0, 99, 1, "5.0.0" }, { content.rope_theta, content.max_position_embeddings,
      content.bos_token_id, content.transformers_version })
    assert.is_nil(content.rope_parameters)
    assert.is_nil(content.rope_scaling)
    assert.error_matches(function()
      options.position = "roper"
      roper.export(roper.nn.Transformer(options), scratch.path("no"), { like = folder })
    end, "llama: the position scheme roper has no counterpart")
    assert.is_nil(files.stat(scratch.path("no")))
  end)
end)
