--- Phi-3 (Abdin et al. 2024): queries, keys and values have one weight, and so have both maps that
--- the feed-forward applies first.
local decoder = require "roper.model.published.decoder"
local kinds = require "roper.model.published.kinds"
local core = require "roper.core"
local tables = require "roper.base.tables"

return decoder.family { fused = true,
  rope = { base = "rope_theta", partial = 1, partial_field = "partial_rotary_factor",
    types = { default = true, longrope = true }, is_original_beside = true },
  types = { phi3 = { architecture = "Phi3ForCausalLM", kinds = kinds.EVERY_OR_NONE,
    rows = tables.joined(decoder.ROWS, { decoder.epsilon(1e-5), decoder.kv_heads(core.json_null),
      decoder.activation("hidden_act", "silu") }),
    fixed = tables.merged(decoder.FIXED, { attention_bias = "none", feed_forward_bias = "none" }),
  } } }
