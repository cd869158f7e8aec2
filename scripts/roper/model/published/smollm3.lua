--- SmolLM3 (Bakouch et al. 2025): every fourth layer does not rotate.
local decoder = require "roper.model.published.decoder"
local kinds = require "roper.model.published.kinds"
local tables = require "roper.base.tables"

return decoder.family { rope = { base = "rope_theta", theta = 2e6, is_optional = true },
  types = { smollm3 = { architecture = "SmolLM3ForCausalLM", kinds = kinds.SOME_ROTATED,
    rows = tables.joined(tables.map(decoder.ROWS, function(row)
      return row[1] == "tie_word_embeddings" and tables.merged(row, { default = true }) or row
    end), { decoder.epsilon(1e-6), decoder.kv_heads(4), decoder.activation("hidden_act", "silu"),
      decoder.bias("attention_bias", "attention_bias"),
      decoder.bias("mlp_bias", "feed_forward_bias") }),
    fixed = decoder.FIXED } } }
