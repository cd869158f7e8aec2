-- Reading models in Hugging Face's layout. The fixtures are written by transformers
-- (tests/fixtures/published/models.py).

local core = require("roper.core")
local files = require("roper.system.file")
local models = require("tests.models")
local positions = require("tests.positions")
local roper = require("roper")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")

local FIXTURES <const> = "tests/fixtures/published/"

-- A value for `changed` that removes a field.
local ABSENT <const> = {}

describe("roper.import", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- Copies a fixture to a new folder.
  local function copied(name)
    local folder = scratch.path("model")
    assert(os.execute(("rm -rf '%s' && cp -r '%s%s' '%s'"):format(folder, FIXTURES, name, folder)))
    return folder
  end

  -- Copies a fixture with other fields in its config.json.
  local function changed(name, fields)
    local folder = copied(name)
    local path = folder .. "/config.json"
    local config = files.decode(path)
    for field, value in pairs(fields) do
      if value == ABSENT then
        config[field] = nil
      else
        config[field] = value
      end
    end
    files.write(path, core.json_encode(config))
    return folder
  end

  local function refused(folder, message, options)
    local ok, got = pcall(roper.import, folder, options)
    assert.is_false(ok)
    assert.matches(message, got, 1, true)
  end

  local function logits_of(name, options)
    local golden = core.load_safetensors(FIXTURES .. name .. ".safetensors")
    return roper.import(FIXTURES .. name, options)(golden.tokens), golden.logits
  end

  for _, name in ipairs(positions.names("tests/fixtures/published", ".safetensors")) do
    it("computes the logits of transformers for " .. name, function()
      for _, pairing in ipairs({ "half", "interleaved" }) do
        local logits, golden = logits_of(name, { pairing = pairing })
        assert.is_true(models.difference(logits, golden) < 5e-5)
      end
    end)
  end

  it("takes num_key_value_heads = null for as many as of queries", function()
    local folder = changed("qwen2", { num_key_value_heads = core.json_null })
    local golden = core.load_safetensors(FIXTURES .. "qwen2.safetensors")
    assert.is_true(models.difference(roper.import(folder)(golden.tokens), golden.logits) < 5e-5)
  end)

  it("returns a model that can be saved, loaded and used with a cache", function()
    for _, name in ipairs({ "gpt2_old", "pythia", "llama", "llama_yarn", "qwen2" }) do
      local model = roper.import(FIXTURES .. name)
      local tokens = core.load_safetensors(FIXTURES .. name .. ".safetensors").tokens
      local logits, path = model(tokens), scratch.path("model.safetensors")
      model:save(path)
      assert.equal(0, models.difference(roper.load(path)(tokens), logits))
      local cache = model:cache({ batch = 2, length = 24 })
      model(tokens:narrow(2, 1, 20), cache)
      assert.is_true(models.difference(model(tokens:narrow(2, 21, 4), cache),
        logits:narrow(2, 21, 4)) < 1e-4)
    end
  end)

  it("leaves the random generator unchanged", function()
    roper.seed(3)
    local expected = roper.rand({ 2 }):totable()
    roper.seed(3)
    roper.import(FIXTURES .. "gpt2")
    assert.same(expected, roper.rand({ 2 }):totable())
  end)

  it("reads a model.safetensors that is a symbolic link", function()
    local folder = copied("gpt2")
    assert(os.rename(folder .. "/model.safetensors", folder .. "/blob"))
    assert(require("luv").fs_symlink("blob", folder .. "/model.safetensors"))
    assert.equal(13, roper.import(folder).options.vocabulary)
  end)

  describe("refuses, with the name and value of the field,", function()
    local REFUSED <const> = {
      { "llama", { model_type = "mixtral" }, 'model_type = "mixtral": expected one of llama, '
        .. "mistral, qwen2, qwen3, smollm3, olmo2, phi3, gemma2, gpt_neox, gpt2" },
      { "llama", { model_type = ABSENT }, "model_type = (missing)" },
      { "llama", { model_type = { "llama" } }, 'model_type = ["llama"]' },
      { "mistral", { sliding_window = 0 }, "sliding_window = 0: expected a positive integer" },
      { "llama", { sliding_window = 16 }, "sliding_window = 16 is unknown" },
      { "qwen2", { layer_types = { "full_attention", "sliding_attention" } },
        'layer_types = "sliding_attention": expected full_attention, since there is no window' },
      { "qwen2", { layer_types = { "full_attention", "chunked_attention" } },
        'layer_types = "chunked_attention": expected full_attention or sliding_attention' },
      { "qwen2", { layer_types = { "full_attention" } }, "expected a list of 2 kinds" },
      { "smollm3", { no_rope_layers = { 1, 2, 0 } }, "no_rope_layers = 2: expected 0 or 1" },
      { "smollm3", { no_rope_layers = { 1 } }, "no_rope_layers = [1]: expected a list of 3 times" },
      { "smollm3", { no_rope_layers = ABSENT, no_rope_layer_interval = 0 },
        "no_rope_layer_interval = 0: expected a positive integer" },
      { "phi3", { rope_parameters = { rope_type = "yarn", factor = 2 } },
        'rope_type = "yarn": expected one of default, longrope' },
      { "gemma2", { use_bidirectional_attention = true },
        "use_bidirectional_attention = true: expected null" },
      { "gemma2", { attn_logit_softcapping = -1 }, "attn_logit_softcapping = -1: expected" },
      { "gemma2", { query_pre_attn_scalar = 0 }, "query_pre_attn_scalar = 0: expected" },
      { "llama", { hidden_act = "relu" }, 'hidden_act = "relu": expected one of "silu", "swish"' },
      { "pythia", { hidden_act = "quick_gelu" }, 'hidden_act = "quick_gelu": expected one of' },
      { "gpt2", { activation_function = 3 }, "activation_function = 3: expected one of" },
      { "gpt2", { scale_attn_by_inverse_layer_idx = true },
        "scale_attn_by_inverse_layer_idx = true: expected false" },
      { "gpt2", { scale_attn_weights = false }, "scale_attn_weights = false: expected true" },
      { "gpt2", { add_cross_attention = true }, "add_cross_attention = true: expected false" },
      { "llama", { num_local_experts = 8 }, "num_local_experts = 8 is unknown" },
      { "llama", { quantization_config = { bits = 4 } },
        'quantization_config = {"bits": 4} is unknown' },
      { "llama", { is_encoder_decoder = true }, "is_encoder_decoder = true is unknown" },
      { "llama", { hiden_size = 3 }, 'is unknown; did you mean "hidden_size"?' },
      { "llama", { head_dim = 16 }, "q_proj.weight: expected floats [64, 32], as config.json" },
      { "llama", { head_dim = 0 }, "head_dim = 0: expected a positive integer" },
      { "llama", { num_key_value_heads = 3 }, "num_key_value_heads = 3: expected a divisor of" },
      { "llama", { hidden_size = "32" }, 'hidden_size = "32": expected a positive integer' },
      { "llama", { hidden_size = 32.0 }, "hidden_size = 32.0: expected a positive integer" },
      { "llama", { hidden_size = ABSENT }, "hidden_size = (missing): expected a positive integer" },
      { "llama", { hidden_size = 30, head_dim = ABSENT },
        "expected hidden_size divisible by the number of heads" },
      { "llama", { num_hidden_layers = -1 }, "num_hidden_layers = -1: expected" },
      { "llama", { attention_bias = {} }, "attention_bias = {}: expected one of true, false" },
      { "llama", { rms_norm_eps = -1 }, "rms_norm_eps = -1: expected" },
      { "llama", { rope_theta = "x" }, 'rope_theta = "x": expected a finite number' },
      { "llama", { rope_theta = 0 }, "field rope_theta = 0: expected a positive number" },
      { "llama", { partial_rotary_factor = 0.5 }, "partial_rotary_factor = 0.5: expected 1" },
      { "pythia", { rotary_pct = 2 }, "rotary_pct = 2: expected a number from 0 to 1" },
      { "pythia", { rotary_pct = 0.4 }, "rotary_pct = 0.4: expected an even number of rotated" },
      { "llama", { rope_scaling = "linear" }, 'rope_scaling = "linear": expected an object' },
      { "llama", { rope_scaling = { rope_type = "mrope", mrope_section = { 1 } } },
        'rope_scaling: field rope_type = "mrope": expected one of default, dynamic, linear' },
      { "llama", { rope_scaling = { type = {} } }, "rope_scaling: field type = {}" },
      { "llama", { rope_scaling = { type = "linear" } }, "factor = (missing): expected" },
      { "llama", { rope_scaling = { type = "linear", factor = "2" } }, 'factor = "2": expected' },
      { "llama", { rope_scaling = { type = "linear", factor = 2, beta = 3 } },
        "field beta = 3: expected only fields of the type linear" },
      { "llama", { rope_scaling = { type = "yarn", factor = 2, truncate = false } },
        "truncate = false: expected true" },
      { "llama", { rope_scaling = { type = "longrope", short_factor = { 1 },
        long_factor = { "a" } } }, 'long_factor = ["a"]: expected a list of numbers' },
      { "llama", { rope_scaling = { type = "longrope", short_factor = { 1 }, long_factor = { 1 },
        factor = 2 } }, "short: expected 4 numbers, one for each pair, got 1" },
      { "llama", { rope_scaling = { type = "linear", factor = 0.5 } },
        "/config.json: linear: option factor: expected " },
      { "pythia", { rotary_emb_base = -2 },
        "field rotary_emb_base = -2: expected a positive number" },
      { "llama", { rope_scaling = { type = "llama3", factor = 2, low_freq_factor = 1,
        high_freq_factor = 4, original_max_position_embeddings = 1.5 } },
        "original_max_position_embeddings = 1.5: expected a positive integer" },
    }
    for _, row in ipairs(REFUSED) do
      it(row[3], function()
        refused(changed(row[1], row[2]), row[3])
      end)
    end
  end)

  it("reads a config with an unknown field that the user ignores", function()
    local folder = changed("gpt2", { flavour = "vanilla" })
    refused(folder, 'field flavour = "vanilla" is unknown; if it does not change the logits, pass '
      .. 'ignore = {"flavour"}')
    assert.equal(13, roper.import(folder, { ignore = { "flavour" } }).options.vocabulary)
  end)

  it("knows which layers have windows and rotate if config.json has no lists of them", function()
    for name, fields in pairs({ qwen2_window = {}, gemma2 = {}, smollm3 = {} }) do
      fields.layer_types = ABSENT
      local golden = core.load_safetensors(FIXTURES .. name .. ".safetensors")
      local logits = roper.import(changed(name, fields))(golden.tokens)
      assert.is_true(models.difference(logits, golden.logits) < 5e-5, name)
    end
    local model = roper.import(changed("smollm3", { no_rope_layers = ABSENT, layer_types = ABSENT,
      no_rope_layer_interval = 2, use_sliding_window = false }))
    assert.same({ "rope", "none" }, { model.options.position[1].type,
      model.options.position[2].type })
  end)

  it("accepts fields that leave out a feature", function()
    local folder = changed("llama", { auto_map = {}, sliding_window = core.json_null,
      quantization_config = false, rope_parameters = core.json_null })
    assert.equal(32, roper.import(folder).options.d_model)
  end)

  it("reads YaRN's fields as transformers does", function()
    local function scheme(fields)
      fields.type, fields.factor = "yarn", 4
      return roper.import(changed("llama", { rope_scaling = fields })).options.position
    end
    assert.equal(16, scheme({ original_max_position_embeddings = 16 }).trained_length)
    assert.equal(64, scheme({}).trained_length)
    assert.equal(1.5, scheme({ attention_factor = 1.5 }).magnitude)
    local log = math.log(4)
    assert.equal((0.1 * 0.7 * log + 1) / (0.1 * 0.5 * log + 1),
      scheme({ mscale = 0.7, mscale_all_dim = 0.5 }).magnitude)
    assert.is_nil(scheme({ mscale = 0.7 }).magnitude)
  end)

  describe("refuses a folder", function()
    it("that is missing, or lacks a file", function()
      refused(scratch.path("none"), "import: there is no folder")
      refused(scratch.write("file", ""), "import: expected a folder, got the file")
      local folder = copied("gpt2")
      os.remove(folder .. "/model.safetensors")
      refused(folder, "expected model.safetensors or model.safetensors.index.json, found neither")
      scratch.write("model/pytorch_model.bin", "")
      refused(folder, "found neither; convert pytorch_model.bin with save_pretrained")
      os.remove(folder .. "/config.json")
      refused(folder, folder .. "/config.json: expected a JSON object, found no file")
    end)

    it("with a config.json that is not a JSON object", function()
      local folder = copied("gpt2")
      for _, text in ipairs({ "", "[1]", "3", '{"a":', "\xff", ("["):rep(5000) }) do
        scratch.write("model/config.json", text)
        refused(folder, "config.json: expected a JSON object")
      end
    end)

    it("with other sizes in config.json than in the tensors, before it creates a model", function()
      for field, value in pairs({ vocab_size = 14, n_positions = 1 << 60, n_inner = 1 << 60,
        n_embd = 1 << 50 }) do
        refused(changed("gpt2", { [field] = value }), "expected floats [")
      end
      refused(changed("gpt2", { n_layer = 1 << 60 }),
        "expected a tensor h.2.ln_1.weight [16], found none")
      refused(changed("gpt2", { n_layer = 1 }),
        "expected no tensor h.1.attn.c_attn.bias (and 11 others) with this config.json")
    end)

    -- Replaces a tensor of gpt2; false removes it.
    local function with_tensor(name, tensor)
      local folder = copied("gpt2")
      local tensors = core.load_safetensors(folder .. "/model.safetensors")
      tensors[name] = tensor or nil
      core.save_safetensors(folder .. "/model.safetensors", tensors)
      return folder
    end

    it("with a tensor that is missing, superfluous or has another shape or dtype", function()
      local name = "transformer.h.1.mlp.c_fc.weight"
      refused(with_tensor(name, false),
        "expected a tensor h.1.mlp.c_fc.weight [16, 64], found none")
      refused(with_tensor(name, roper.zeros({ 64, 16 })),
        "h.1.mlp.c_fc.weight: expected floats [16, 64], as config.json says, got float32 [64, 16]")
      refused(with_tensor(name, roper.zeros({ 16, 64 }, "int32")), "got int32 [16, 64]")
      refused(with_tensor("score.weight", roper.zeros({ 2, 16 })),
        "expected no tensor score.weight with this config.json")
      refused(with_tensor("wte.weight", roper.zeros({ 13, 16 })),
        "the tensor wte.weight is in the files twice, with and without transformer.")
    end)

    -- Writes another index of the sharded model.
    local function with_index(edit)
      local folder = copied("llama")
      local path = folder .. "/model.safetensors.index.json"
      local index = files.decode(path)
      edit(index.weight_map, folder)
      files.write(path, core.json_encode(index))
      return folder
    end

    it("with an index that names files outside the folder", function()
      for _, name in ipairs({ "../model.safetensors", "/etc/model.safetensors", "a/b.safetensors",
        "..", "", ".safetensors", "model.bin", 3, { "x" } }) do
        refused(with_index(function(map)
          map["lm_head.weight"] = name
        end), "weight_map: lm_head.weight: expected the name of a safetensors file in")
      end
    end)

    it("with a shard that is missing, damaged, or contains other tensors", function()
      refused(with_index(function(map) map["lm_head.weight"] = "other.safetensors" end),
        "other.safetensors, which is missing")
      refused(with_index(function(map) map["lm_head.weight"] = nil end),
        "contains the tensor lm_head.weight, which")
      refused(with_index(function(map) map.extra = map["lm_head.weight"] end),
        "has no tensor extra, which")
      refused(with_index(function(map, folder)
        local path = folder .. "/" .. map["lm_head.weight"]
        local bytes = scratch.read(path)
        scratch.write(path:match("model/.*"), bytes:sub(1, 20))
      end), "expected the size of the header in the first 8 bytes, at most 12, got ")
    end)

    it("with a tensor in two shards", function()
      refused(with_index(function(map, folder)
        local other = folder .. "/" .. map["model.embed_tokens.weight"]
        local tensors = core.load_safetensors(other)
        tensors["lm_head.weight"] = roper.zeros({ 13, 32 })
        core.save_safetensors(other, tensors)
      end), "contains the tensor lm_head.weight, which")
      local folder = copied("llama")
      local path = folder .. "/model.safetensors.index.json"
      local text = files.read(path)
      files.write(path, (text:gsub('"lm_head.weight"', '"lm_head.weight": "a.safetensors", %0')))
      refused(folder, "expected a JSON object: ")
    end)

    it("with an index without a weight_map", function()
      local folder = copied("llama")
      for _, text in ipairs({ "{}", '{"weight_map":[]}', '{"weight_map":null}' }) do
        scratch.write("model/model.safetensors.index.json", text)
        refused(folder, "expected an object weight_map")
      end
    end)
  end)

  describe("returns a task", function()
    it("whose texts are token ids, without a tokenizer.model", function()
      local _, task = roper.import(FIXTURES .. "gpt2")
      assert.is_false(task:has_tokenizer())
      assert.error_matches(function() task:batch(1) end,
        "task:batch: a published model has no rows; read a text with task:read")
      assert.error_matches(function() task:question() end,
        "task:question: a published task has rows but no problems")
      assert.error_matches(function() roper.evaluate.fresh(task, 1) end,
        "fresh: expected a task of roper.tasks, got published{folder = ")
      assert.same({ 1, 12, 3 }, task:encode("1 12,3"):totable())
      assert.equal(" 1 12 0\0", task:decode({ 1, 12, 0 })) -- 0 ends a text, as config.json says
      assert.equal(13, #task:vocabulary())
      for _, text in ipairs({ "13", "-1", "1.0", "one", "0x1" }) do
        assert.error_matches(function() task:encode(text) end,
          "expected token ids from 0 to 12, got " .. text, nil, true)
      end
      assert.error_matches(function() task:decode({ 13 }) end, "from 0 to 12, got 13 at index 1")
    end)

    -- The task of a model with this number of tokens and this tokenizer, and what is printed.
    local function with_tokenizer(count, bytes)
      roper.export(roper.nn.Transformer({ vocabulary = count, d_model = 8, heads = 2, layers = 1,
        position = "rope", logits_bias = "none" }), scratch.path("out"))
      scratch.write("out/tokenizer.model", bytes)
      local task
      local _, printed = stdout.capture_both(function()
        task = select(2, roper.import(scratch.path("out")))
      end)
      return task, printed
    end

    it("with the tokenizer of the folder, padded to the vocabulary of the model", function()
      local task, printed = with_tokenizer(330, scratch.read(FIXTURES .. "tokenizer.model"))
      assert.equal("", printed)
      assert.is_true(task:has_tokenizer())
      assert.equal(330, #task:vocabulary())
      assert.equal("", task:decode({ 325 }))
    end)

    it("of token ids, with a note, if SentencePiece cannot read the tokenizer", function()
      local task, printed = with_tokenizer(330, "IQ== 0\nIg== 1\n")
      assert.is_false(task:has_tokenizer())
      assert.matches("^import: text: .*/tokenizer.model: expected a SentencePiece model, got a "
        .. "damaged file or one of another kind; texts are token ids\n$", printed)
    end)

    it("of token ids, with a note, if the tokenizer has more tokens than the model", function()
      local task, printed = with_tokenizer(300, scratch.read(FIXTURES .. "tokenizer.model"))
      assert.is_false(task:has_tokenizer())
      assert.matches("expected at most 300 tokens, those of the model, got 320",
        printed)
    end)
  end)

  it("checks its arguments", function()
    assert.error_matches(function() roper.import("x", { ignore = { "a", 3 } }) end,
      "import: option ignore: expected a list of fields, got 3")
  end)
end)
