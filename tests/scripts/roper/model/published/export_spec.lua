-- Writing models in Hugging Face's layout. tests/pytorch/published.lua compares exported models
-- with transformers; here, what is exported from its files must equal them.

local core = require("roper.core")
local files = require("roper.system.file")
local models = require("tests.models")
local published = require("roper.model.published.files")
local roper = require("roper")
local scratch = require("tests.scratch")

local FIXTURES <const> = "tests/fixtures/published/"

-- Options of models with a counterpart in Llama's and in GPT-NeoX's layout.
local LLAMA <const> = { vocabulary = 7, d_model = 16, heads = 4, layers = 1, logits_bias = "none",
  rms_norm = true, activation = "swiglu", attention_bias = "none", feed_forward_bias = "none",
  position = "rope" }
local NEOX <const> = { vocabulary = 7, d_model = 16, heads = 4, layers = 1, logits_bias = "none",
  position = "rope" }

describe("roper.export", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  local function model_of(options, changes)
    local all = {}
    for _, part in ipairs({ options, changes or {} }) do
      for name, value in pairs(part) do
        all[name] = value
      end
    end
    roper.seed(5)
    return roper.nn.Transformer(all)
  end

  local function config_of(model, options)
    local folder = scratch.path("out")
    os.execute(("rm -rf '%s'"):format(folder))
    roper.export(model, folder, options)
    return files.decode(folder .. "/config.json")
  end

  local function refused(model, message, options)
    local folder = scratch.path("refused")
    local ok, got = pcall(roper.export, model, folder, options)
    assert.is_false(ok)
    assert.matches(message, got, 1, true)
    assert.same({}, files.names(folder))
  end

  for name, type in pairs({ gpt2 = "gpt2", pythia = "gpt_neox", pythia_sequential = "gpt_neox",
    llama = "llama", llama_linear = "llama", llama_dynamic = "llama", llama_yarn = "llama",
    llama_longrope = "llama", mistral = "mistral", qwen2 = "qwen2", mistral_window = "mistral",
    qwen2_window = "qwen2", qwen3 = "qwen3", phi3 = "phi3", gemma2 = "gemma2", smollm3 = "smollm3",
    olmo2 = "olmo2" }) do
    it("writes the tensors and the config that transformers wrote for " .. name, function()
      local original = published.tensors(FIXTURES .. name)
      for _, pairing in ipairs({ "half", "interleaved" }) do
        local folder = scratch.path(pairing)
        local model = roper.import(FIXTURES .. name, { pairing = pairing })
        roper.export(model, folder, { type = type, length = 64 })
        local tensors, metadata = core.load_safetensors(folder .. "/model.safetensors")
        assert.equal("pt", metadata.format)
        for tensor in pairs(original) do
          assert.is_truthy(tensors[tensor], tensor)
        end
        for tensor, x in pairs(tensors) do
          assert.is_truthy(original[tensor], tensor)
          assert.is_true(models.difference(x, original[tensor]) <= (type == "gemma2" and 1e-7 or 0))
        end
        local there, here = files.decode(FIXTURES .. name .. "/config.json"),
          files.decode(folder .. "/config.json")
        for _, field in ipairs({ "model_type", "architectures", "hidden_act", "hidden_size",
          "num_key_value_heads", "rms_norm_eps", "n_embd", "n_positions", "activation_function",
          "use_parallel_residual", "attention_bias", "tie_word_embeddings",
          "mlp_bias", "layer_types", "no_rope_layers", "attn_logit_softcapping",
          "final_logit_softcapping", "query_pre_attn_scalar", "head_dim", "hidden_activation",
          "use_sliding_window",
          type == "phi3" and "original_max_position_embeddings" or nil }) do
          if field ~= "head_dim" or there[field] then
            assert.same(there[field] ~= core.json_null and there[field] or nil,
              here[field] ~= core.json_null and here[field] or nil)
          end
        end
      end
    end)
  end

  it("writes a list of divisors for longrope if the scheme has one number for all pairs", function()
    local function scaling(options)
      options.type = "longrope"
      return config_of(model_of(LLAMA, { position = options })).rope_scaling
    end
    local found = scaling({ factor = 4 })
    assert.same({ { 1, 1 }, { 4, 4 } }, { found.short_factor, found.long_factor })
    found = scaling({ factor = 4, short = 2, long = 3 })
    assert.same({ { 2, 2 }, { 3, 3 } }, { found.short_factor, found.long_factor })
  end)

  it("writes the rotation as the fields before transformers 5, which all versions read", function()
    local rope = { type = "rope", base = 500, fraction = 0.5 }
    local config = config_of(model_of(NEOX, { position = rope }))
    assert.same({ 500.0, 0.5 }, { config.rotary_emb_base, config.rotary_pct })
    local yarn = { type = "yarn", factor = 2, trained_length = 16, slow = 2, magnitude = 1.5 }
    config = config_of(model_of(LLAMA, { position = yarn }), { length = 32 })
    assert.same({ rope_type = "yarn", factor = 2.0, beta_fast = 32.0, beta_slow = 2.0,
      attention_factor = 1.5, original_max_position_embeddings = 16 }, config.rope_scaling)
    assert.same({ 10000.0, 32 }, { config.rope_theta, config.max_position_embeddings })
    config = config_of(model_of(LLAMA, { position = { type = "ntk", factor = 3,
      trained_length = 20 } }))
    assert.same({ rope_type = "dynamic", factor = 3.0 }, config.rope_scaling)
    assert.equal(20, config.max_position_embeddings)
    config = config_of(model_of(LLAMA, { position = { type = "ntk", factor = 3 } }))
    assert.is_nil(config.rope_scaling)
    assert.equal(10000 * 3.0 ^ 2, config.rope_theta) -- r / (r - 2) with r = 4
  end)

  it("chooses the type that fits, or takes the given one", function()
    assert.equal("llama", config_of(model_of(LLAMA)).model_type)
    assert.equal("mistral", config_of(model_of(LLAMA), { type = "mistral" }).model_type)
    assert.equal("qwen2", config_of(model_of(LLAMA, { attention_bias = "qkv" })).model_type)
    assert.equal("gpt_neox", config_of(model_of(NEOX)).model_type)
    assert.equal("gpt2", config_of(model_of(NEOX, { position = "learned", length = 9 })).model_type)
    refused(model_of(LLAMA), "gpt2: ", { type = "gpt2" })
  end)

  it("converts a model in float64", function()
    local model = models.convert(model_of(NEOX), "float64")
    config_of(model)
    local tokens = roper.tensor({ { 1, 4, 2 } }, "int32")
    assert.is_true(models.difference(roper.import(scratch.path("out"))(tokens), model(tokens))
      < 1e-5)
  end)

  it("exports a list of equal schemes, but no different ones", function()
    local model = model_of(NEOX, { position = { "rope", "rope" } })
    assert.equal("gpt_neox", config_of(model).model_type)
    refused(model_of(NEOX, { layers = 2, position = { "rope", "none" } }),
      "gpt_neox: layers without rotation have no counterpart")
    refused(model_of(NEOX, { layers = 2, position = { "rope", "linear" } }),
      "export: its layers have different position schemes")
    refused(model_of(NEOX, { position = "rope+alibi" }), "combines several schemes")
    refused(model_of(NEOX, { position = { parts = { { type = "rope" }, { type = "rope" } } } }),
      "combines several schemes")
  end)

  it("exports schemes with options in text, and created ones", function()
    local text = "rope{fraction=0.5,base=500}"
    local config = config_of(model_of(NEOX, { position = text }))
    assert.same({ 500.0, 0.5 }, { config.rotary_emb_base, config.rotary_pct })
    config = config_of(model_of(NEOX, { position = { type = "rope{fraction=0.5}",
      base = 300 } }))
    assert.same({ 300.0, 0.5 }, { config.rotary_emb_base, config.rotary_pct })
    config = config_of(model_of(NEOX, { position = roper.position.rope({ dim = 4, base = 200 }) }))
    assert.equal(200.0, config.rotary_emb_base)
    refused(model_of(NEOX, { position = roper.position.yarn({ dim = 4 }) }),
      "export: its position scheme has the option frequencies, which has no counterpart")
  end)

  describe("refuses, with the reason for each type,", function()
    local REFUSED <const> = {
      { NEOX, { position = "roper" },
        "gpt_neox: the position scheme roper has no counterpart; those with one are rope, linear" },
      { NEOX, { position = "roper", logits_bias = "all" },
        "gpt_neox: the position scheme roper has no counterpart" },
      { NEOX, { position = "alibi" }, "gpt_neox: the position scheme alibi has no counterpart" },
      { NEOX, { position = { type = "rope", rotate = "q" } },
        'gpt_neox: position: rotate = "q" has no counterpart' },
      { LLAMA, { position = { type = "rope", rotate = "qkvo" } },
        'llama: position: rotate = "qkvo" has no counterpart' },
      { LLAMA, { position = { type = "rope", fraction = 0.5 }, attention_bias = "qkv" },
        "llama: position: fraction = 0.5 has no counterpart" },
      { LLAMA, { position = "window{size=3}+rope", attention_bias = "all" },
        "llama: sliding windows have no counterpart", { type = "llama" } },
      { LLAMA, { position = "window{size=3,sinks=1}+rope" },
        "window: sinks = 1 has no counterpart; expected 0" },
      { LLAMA, { layers = 2, position = { "window{size=3}+rope", "window{size=4}+rope" } },
        "smollm3: windows of 3 and 4 have no counterpart; expected one size" },
      { LLAMA, { layers = 2, position = { "window{size=3}+rope", "rope" } },
        "mistral: windows in some of the layers have no counterpart; expected all or none",
        { type = "mistral" } },
      { LLAMA, { attention_softcap = 5 }, "llama: attention_softcap = 5 has no counterpart" },
      { LLAMA, { logits_softcap = 5 }, "qwen3: logits_softcap = 5 has no counterpart" },
      { LLAMA, { attention_scale = 0.7 }, "llama: attention_scale = 0.7 has no counterpart" },
      { LLAMA, { qk_norm = "all" }, 'llama: qk_norm = "all" has no counterpart' },
      { LLAMA, { norm = "sandwich" }, 'llama: norm = "sandwich" has no counterpart' },
      { NEOX, { head_dim = 6 }, "gpt_neox: head_dim = 6 has no counterpart" },
      { LLAMA, { position = { type = "linear", last = true } },
        "llama: position: last = true has no counterpart" },
      { LLAMA, { position = { type = "yarn", ramp = "turns" } },
        'llama: position: ramp = "turns" has no counterpart' },
      { NEOX, { position = "learned", length = 9, kv_heads = 2 },
        "gpt2: kv_heads = 2 has no counterpart; expected heads = 4" },
      { NEOX, { logits_bias = "all" },
        'gpt_neox: logits_bias = "all" has no counterpart; expected "none"' },
      { NEOX, { norm = "post" }, 'gpt_neox: norm = "post" has no counterpart; expected "pre"' },
      { NEOX, { tied_embeddings = true },
        "gpt_neox: embedding_scale = 4.0 has no counterpart; expected 1" },
      { NEOX, { attention_bias = "qkv" }, 'gpt_neox: attention_bias = "qkv" has no counterpart' },
      { NEOX, { feed_forward_bias = "none" }, 'gpt_neox: feed_forward_bias = "none" has no' },
      { NEOX, { activation = "swiglu" }, 'gpt_neox: activation = "swiglu" has no counterpart' },
      { NEOX, { tied = true }, "gpt_neox: tied = true has no counterpart; expected false" },
      { LLAMA, { activation = "relu" }, 'llama: activation = "relu" has no counterpart' },
      { LLAMA, { parallel_residual = true }, "llama: parallel_residual = true has no" },
    }
    for _, row in ipairs(REFUSED) do
      it(row[3], function()
        refused(model_of(row[1], row[2]), row[3], row[4])
      end)
    end
  end)

  it("refuses a model that computes something else than its options say", function()
    local model = model_of(NEOX)
    local forward = model.layers[1].feed_forward.forward
    model.layers[1].feed_forward.forward = function(self, x) return 2 * forward(self, x) end
    refused(model, "the written model has other logits, by up to ")
    model = model_of(NEOX)
    model.logits.bias = roper.zeros({ 7 }):parameter()
    refused(model, "the parameter logits.bias has no counterpart in the layout")
    model = model_of(NEOX)
    model.layers[1].attention.query.bias = nil
    refused(model, "expected a parameter layers.1.attention.query.bias, found none")
  end)

  it("refuses a folder that is not empty, and leaves it unchanged", function()
    local path = scratch.write("config.json", "mine")
    local folder = path:match("^(.*)/")
    assert.error_matches(function() roper.export(model_of(NEOX), folder) end,
      "expected a new or empty folder, got .*, which contains config.json")
    assert.same({ "config.json" }, files.names(folder))
    assert.error_matches(function() roper.export(model_of(NEOX), path) end, "config.json")
    assert.equal("mine", scratch.read(path))
  end)

  it("checks its arguments", function()
    assert.error_matches(function()
      roper.export(roper.nn.Linear({ inputs = 1, outputs = 1 }), scratch.path("x"))
    end, "export: expected a Transformer, got a Linear")
  end)
end)
