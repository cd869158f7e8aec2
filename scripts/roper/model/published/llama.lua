--- Llama and Mistral (Touvron et al. 2023; Jiang et al. 2023).
local decoder = require "roper.model.published.decoder"
local kinds = require "roper.model.published.kinds"
local core = require "roper.core"
local tables = require "roper.base.tables"

local NULL <const> = core.json_null

local SHARED <const> = tables.joined(decoder.ROWS, { decoder.head_dim(NULL), decoder.epsilon(1e-6),
  decoder.activation("hidden_act", "silu") })

return decoder.family { types = {
  llama = { architecture = "LlamaForCausalLM",
    rows = tables.joined(SHARED, { decoder.kv_heads(NULL),
      decoder.bias("attention_bias", "attention_bias"),
      decoder.bias("mlp_bias", "feed_forward_bias") }),
    fixed = decoder.FIXED },
  mistral = { architecture = "MistralForCausalLM", kinds = kinds.EVERY,
    rows = tables.joined(SHARED, { decoder.kv_heads(8) }),
    fixed = tables.merged(decoder.FIXED, { attention_bias = "none", feed_forward_bias = "none" }) },
} }
