--- The layout of GPT-NeoX and Pythia (Black et al. 2022; Biderman et al. 2023).
local config = require "roper.model.published.config"
local layout = require "roper.model.published.layout"

local ROWS <const> = {
  { "vocab_size", "tokens", option = "vocabulary", kind = "size" },
  { "hidden_size", "features of a token", option = "d_model", kind = "size" },
  { "num_hidden_layers", "layers", option = "layers", kind = "size" },
  { "num_attention_heads", "heads", option = "heads", kind = "size" },
  { "intermediate_size", "features of the feed-forward", option = "d_ff", kind = "size" },
  { "hidden_act", "activation of the feed-forward", option = "activation",
    choices = config.ACTIVATIONS, default = "gelu" },
  { "layer_norm_eps", "epsilon of the norms", option = "norm_epsilon", kind = "amount",
    default = 1e-5 },
  { "use_parallel_residual", "attention and feed-forward of one input",
    option = "parallel_residual", kind = "boolean", default = true },
  { "attention_bias", "biases in attention", option = "attention_bias",
    choices = { { true, "all" }, { false, "none" } }, default = true },
  { "tie_word_embeddings", "one weight for embedding and logits", option = "tied_embeddings",
    kind = "boolean", default = false },
}

return {
  types = { gpt_neox = { architecture = "GPTNeoXForCausalLM", rows = ROWS, fixed = { norm = "pre",
    rms_norm = false, embedding_scale = 1, logits_bias = "none", feed_forward_bias = "all",
    qk_norm = "none", attention_softcap = 0, logits_softcap = 0 } } },
  prefix = "gpt_neox.",
  head = "embed_out.weight",
  buffers = { "^layers%.%d+%.attention%.bias$", "^layers%.%d+%.attention%.masked_bias$",
    "^layers%.%d+%.attention%.rotary_emb%.inv_freq$" },
  rope = { base = "rotary_emb_base", partial = 0.25, partial_field = "rotary_pct" },
  ends = function(o)
    local list = layout.new()
    list:same("embed_in.weight", "embedding.weight", { o.vocabulary, o.d_model })
    list:norm("final_layer_norm", "norm", o.d_model, true)
    if not o.tied_embeddings then
      list:linear("embed_out", "logits", o.vocabulary, o.d_model, false)
    end
    return list.entries
  end,
  layer = function(o, index)
    local list, there = layout.new(), ("layers.%d."):format(index - 1)
    local here, has_bias = ("layers.%d."):format(index), o.attention_bias == "all"
    list:norm(there .. "input_layernorm", here .. "attention_norm", o.d_model, true)
    list:norm(there .. "post_attention_layernorm", here .. "feed_forward_norm", o.d_model, true)
    list:alternating(there .. "attention.query_key_value", { here .. "attention.query",
      here .. "attention.key", here .. "attention.value" }, 3 * o.d_model, o.d_model, o.heads,
      has_bias)
    list:linear(there .. "attention.dense", here .. "attention.output", o.d_model, o.d_model,
      has_bias)
    list:linear(there .. "mlp.dense_h_to_4h", here .. "feed_forward.inner", o.d_ff, o.d_model, true)
    list:linear(there .. "mlp.dense_4h_to_h", here .. "feed_forward.outer", o.d_model, o.d_ff, true)
    return list.entries
  end,
}
