--- Gemma 2 (Gemma Team 2024): scaled embeddings, norms around each part, soft caps, and sliding
--- windows in every other layer. Its files contain the gains of norms minus 1.
local decoder = require "roper.model.published.decoder"
local kinds = require "roper.model.published.kinds"
local core = require "roper.core"
local tables = require "roper.base.tables"

-- The scale of the scores is 1 / √x for the field's x; whole numbers are written as such.
local function squared(scale)
  local x = scale ^ -2
  local whole = math.floor(x + 0.5)
  return math.abs(x - whole) < 1e-9 * x and math.tointeger(whole) or x
end

-- The row of a soft cap; null for none.
local function softcap(field, option, default)
  return { field, "soft cap; null for none", option = option, kind = "amount", default = default,
    is_nullable = true, write = function(cap) return cap == 0 and core.json_null or cap end }
end

return decoder.family { offset = true,
  norms = { input_layernorm = "attention_norm", post_attention_layernorm = "attention_norm_after",
    pre_feedforward_layernorm = "feed_forward_norm",
    post_feedforward_layernorm = "feed_forward_norm_after" },
  types = { gemma2 = { architecture = "Gemma2ForCausalLM", kinds = kinds.ALTERNATING,
    rows = tables.joined(tables.map(decoder.ROWS, function(row)
      return row[1] == "tie_word_embeddings" and tables.merged(row, { default = true }) or row
    end), { decoder.epsilon(1e-6), decoder.kv_heads(4), decoder.head_dim(256),
      decoder.activation("hidden_activation", "gelu_pytorch_tanh"),
      decoder.bias("attention_bias", "attention_bias"),
      softcap("attn_logit_softcapping", "attention_softcap", 50.0),
      softcap("final_logit_softcapping", "logits_softcap", 30.0),
      { "query_pre_attn_scalar", "1 / √x is the scale of the scores", option = "attention_scale",
        kind = "positive", default = 256, write = squared,
        read = function(x) return x ^ -0.5 end },
      { "hidden_act", "an older name of hidden_activation", unused = true },
      { "cache_implementation", "how keys are stored", unused = true },
      { "use_bidirectional_attention", "attend to later tokens", only = core.json_null,
        default = core.json_null },
    }),
    fixed = tables.merged(decoder.FIXED, { norm = "sandwich", feed_forward_bias = "none",
      embedding_scale = function(o) return o.d_model ^ 0.5 end }) } } }
