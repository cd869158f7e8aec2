--- The layout of Llama, Mistral and Qwen2 (Touvron et al. 2023; Jiang et al. 2023; Yang et al.
--- 2024).
local layout = require "roper.model.published.layout"
local core = require "roper.core"
local tables = require "roper.base.tables"

local NULL <const> = core.json_null

local SHARED <const> = {
  { "vocab_size", "tokens", option = "vocabulary", kind = "size" },
  { "hidden_size", "features of a token", option = "d_model", kind = "size" },
  { "num_hidden_layers", "layers", option = "layers", kind = "size" },
  { "num_attention_heads", "heads", option = "heads", kind = "size" },
  { "intermediate_size", "features of the feed-forward", option = "d_ff", kind = "size" },
  { "hidden_act", "activation of the gate", option = "activation",
    choices = { { "silu", "swiglu" }, { "swish", "swiglu" } }, default = "silu" },
  { "rms_norm_eps", "epsilon of the norms", option = "norm_epsilon", kind = "amount",
    default = 1e-6 },
  { "tie_word_embeddings", "one weight for embedding and logits", option = "tied_embeddings",
    kind = "boolean", default = false },
  { "head_dim", "features of a head; null for hidden_size / num_attention_heads", kind = "size",
    default = NULL },
}

local FIXED <const> = { norm = "pre", rms_norm = true, embedding_scale = 1, logits_bias = "none",
  parallel_residual = false }

-- The row of the key/value heads; null for as many as of queries.
local function kv_heads(default)
  return { "num_key_value_heads", "heads of keys and values", option = "kv_heads", kind = "size",
    default = default, is_nullable = true }
end

local LLAMA <const> = tables.joined(SHARED, {
  kv_heads(NULL),
  { "attention_bias", "biases in attention", option = "attention_bias",
    choices = { { true, "all" }, { false, "none" } }, default = false },
  { "mlp_bias", "biases in the feed-forward", option = "feed_forward_bias",
    choices = { { true, "all" }, { false, "none" } }, default = false },
})
local MISTRAL <const> = tables.joined(SHARED, {
  kv_heads(8),
  { "sliding_window", "tokens that a token attends to", only = NULL, default = 4096 },
})
local QWEN2 <const> = tables.joined(SHARED, {
  kv_heads(32),
  { "use_sliding_window", "use sliding_window in the upper layers", only = false, default = false },
  { "sliding_window", "only with use_sliding_window", unused = true },
  { "max_window_layers", "only with use_sliding_window", unused = true },
  { "layer_types", "kind of attention of each layer", every = "full_attention", default = NULL },
})

return {
  types = {
    llama = { architecture = "LlamaForCausalLM", rows = LLAMA, fixed = FIXED },
    mistral = { architecture = "MistralForCausalLM", rows = MISTRAL,
      fixed = tables.merged(FIXED, { attention_bias = "none", feed_forward_bias = "none" }) },
    qwen2 = { architecture = "Qwen2ForCausalLM", rows = QWEN2,
      fixed = tables.merged(FIXED, { attention_bias = "qkv", feed_forward_bias = "none" }) },
  },
  prefix = "model.",
  head = "lm_head.weight",
  buffers = { "^layers%.%d+%.self_attn%.rotary_emb%.inv_freq$", "^rotary_emb%.inv_freq$" },
  rope = { base = "rope_theta" },
  ends = function(o)
    local list = layout.new()
    list:same("embed_tokens.weight", "embedding.weight", { o.vocabulary, o.d_model })
    list:norm("norm", "norm", o.d_model, false)
    if not o.tied_embeddings then
      list:linear("lm_head", "logits", o.vocabulary, o.d_model, false)
    end
    return list.entries
  end,
  layer = function(o, index)
    local list, there = layout.new(), ("layers.%d."):format(index - 1)
    local here, with_bias = ("layers.%d."):format(index), o.attention_bias
    local narrow = o.d_model // o.heads * (o.kv_heads or o.heads)
    list:norm(there .. "input_layernorm", here .. "attention_norm", o.d_model, false)
    list:norm(there .. "post_attention_layernorm", here .. "feed_forward_norm", o.d_model, false)
    for _, map in ipairs { { "q", "query", o.d_model, o.d_model, with_bias ~= "none" },
      { "k", "key", narrow, o.d_model, with_bias ~= "none" },
      { "v", "value", narrow, o.d_model, with_bias ~= "none" },
      { "o", "output", o.d_model, o.d_model, with_bias == "all" } } do
      list:linear(("%sself_attn.%s_proj"):format(there, map[1]),
        ("%sattention.%s"):format(here, map[2]), map[3], map[4], map[5])
    end
    for _, map in ipairs { { "gate", "gate", o.d_ff, o.d_model },
      { "up", "inner", o.d_ff, o.d_model }, { "down", "outer", o.d_model, o.d_ff } } do
      list:linear(("%smlp.%s_proj"):format(there, map[1]),
        ("%sfeed_forward.%s"):format(here, map[2]), map[3], map[4],
        o.feed_forward_bias == "all")
    end
    return list.entries
  end,
}
