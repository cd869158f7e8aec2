--- Qwen2 and Qwen3 (Yang et al. 2024; Yang et al. 2025). Qwen3 normalizes the queries and keys of
--- each head.
local decoder = require "roper.model.published.decoder"
local kinds = require "roper.model.published.kinds"
local core = require "roper.core"
local tables = require "roper.base.tables"

local SHARED <const> = tables.joined(decoder.ROWS, { decoder.epsilon(1e-6), decoder.kv_heads(32),
  decoder.activation("hidden_act", "silu") })

return decoder.family { types = {
  qwen2 = { architecture = "Qwen2ForCausalLM", kinds = kinds.UPPER,
    rows = tables.joined(SHARED, { decoder.head_dim(core.json_null) }),
    fixed = tables.merged(decoder.FIXED, { attention_bias = "qkv", feed_forward_bias = "none" }) },
  qwen3 = { architecture = "Qwen3ForCausalLM", kinds = kinds.UPPER,
    rows = tables.joined(SHARED, { decoder.head_dim(128),
      decoder.bias("attention_bias", "attention_bias") }),
    fixed = tables.merged(decoder.FIXED, { qk_norm = "head", feed_forward_bias = "none" }) },
} }
