--- OLMo 2 (OLMo et al. 2024): norms of the outputs of each part, and of all queries and keys.
local decoder = require "roper.model.published.decoder"
local core = require "roper.core"
local tables = require "roper.base.tables"

return decoder.family {
  norms = { post_attention_layernorm = "attention_norm",
    post_feedforward_layernorm = "feed_forward_norm" },
  types = { olmo2 = { architecture = "Olmo2ForCausalLM",
    rows = tables.joined(decoder.ROWS, { decoder.epsilon(1e-5), decoder.kv_heads(core.json_null),
      decoder.activation("hidden_act", "silu"),
      decoder.bias("attention_bias", "attention_bias") }),
    fixed = tables.merged(decoder.FIXED, { norm = "reordered", qk_norm = "all",
      feed_forward_bias = "none" }) } } }
