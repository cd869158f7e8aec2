--- The layout that Llama and its successors share: fields of config.json, and the tensors of
--- embedding, attention, gated feed-forward and norms. Each family is a file of its own.
local core = require "roper.core"
local layout = require "roper.model.published.layout"
local tables = require "roper.base.tables"

local M = {}

local NULL <const> = core.json_null

--- Rows of all these families.
M.ROWS = {
  { "vocab_size", "tokens", option = "vocabulary", kind = "size" },
  { "hidden_size", "features of a token", option = "d_model", kind = "size" },
  { "num_hidden_layers", "layers", option = "layers", kind = "size" },
  { "num_attention_heads", "heads", option = "heads", kind = "size" },
  { "intermediate_size", "features of the feed-forward", option = "d_ff", kind = "size" },
  { "tie_word_embeddings", "one weight for embedding and logits", option = "tied_embeddings",
    kind = "boolean", default = false },
} ---@type ConfigRow[]

--- Options that all models of these families have, unless a family says otherwise.
M.FIXED = { norm = "pre", rms_norm = true, embedding_scale = 1, logits_bias = "none",
  parallel_residual = false, qk_norm = "none", attention_softcap = 0, logits_softcap = 0 }

--- The row of the epsilon of the norms.
---@param default number
---@return ConfigRow row
function M.epsilon(default)
  return { "rms_norm_eps", "epsilon of the norms", option = "norm_epsilon", kind = "amount",
    default = default }
end

--- The row of the key/value heads.
---@param default any the number if the field is missing; json_null for as many as of queries
---@return ConfigRow row
function M.kv_heads(default)
  return { "num_key_value_heads", "heads of keys and values", option = "kv_heads", kind = "size",
    default = default, is_nullable = true }
end

--- The row of the features of a head.
---@param default any the number if the field is missing; json_null for hidden_size /
---   num_attention_heads
---@return ConfigRow row
function M.head_dim(default)
  return { "head_dim", "features of a head; null for hidden_size / num_attention_heads",
    option = "head_dim", kind = "size", default = default, is_nullable = default == NULL }
end

--- The row of an activation with a gate.
---@param field string
---@param default string
---@return ConfigRow row
function M.activation(field, default)
  return { field, "activation of the gate", option = "activation", default = default,
    choices = { { "silu", "swiglu" }, { "swish", "swiglu" },
      { "gelu_pytorch_tanh", "geglu_tanh" }, { "gelu_new", "geglu_tanh" }, { "gelu", "geglu" } } }
end

--- The row of a boolean field about biases.
---@param field string
---@param option string
---@return ConfigRow row
function M.bias(field, option)
  return { field, "biases", option = option, choices = { { true, "all" }, { false, "none" } },
    default = false }
end

-- Adds the four maps of attention, and the norms of queries and keys.
local function add_attention(list, there, here, o, how)
  local dim = o.head_dim or o.d_model // o.heads
  local wide, narrow = dim * o.heads, dim * (o.kv_heads or o.heads)
  local bias = o.attention_bias
  if how.fused then
    list:stacked(there .. "qkv_proj.weight", { here .. "query.weight", here .. "key.weight",
      here .. "value.weight" }, { wide, narrow, narrow }, o.d_model)
  else
    list:linear(there .. "q_proj", here .. "query", wide, o.d_model, bias ~= "none")
    list:linear(there .. "k_proj", here .. "key", narrow, o.d_model, bias ~= "none")
    list:linear(there .. "v_proj", here .. "value", narrow, o.d_model, bias ~= "none")
  end
  list:linear(there .. "o_proj", here .. "output", o.d_model, wide, bias == "all")
  if o.qk_norm ~= "none" then
    local is_of_head = o.qk_norm == "head"
    list:norm(there .. "q_norm", here .. "query_norm", is_of_head and dim or wide, false)
    list:norm(there .. "k_norm", here .. "key_norm", is_of_head and dim or narrow, false)
  end
end

-- Adds the three maps of the feed-forward.
local function add_feed_forward(list, there, here, o, how)
  local has_bias = o.feed_forward_bias == "all"
  if how.fused then
    list:stacked(there .. "gate_up_proj.weight", { here .. "gate.weight", here .. "inner.weight" },
      { o.d_ff, o.d_ff }, o.d_model)
  else
    list:linear(there .. "gate_proj", here .. "gate", o.d_ff, o.d_model, has_bias)
    list:linear(there .. "up_proj", here .. "inner", o.d_ff, o.d_model, has_bias)
  end
  list:linear(there .. "down_proj", here .. "outer", o.d_model, o.d_ff, has_bias)
end

-- The norms of a layer before the parts, as most families have them.
local PRE <const> = { input_layernorm = "attention_norm",
  post_attention_layernorm = "feed_forward_norm" }

--- Creates a family.
---@param how table types, rope, as in PublishedFamily; norms: the names of a layer's norms in the
---   files, with those here; fused: queries, keys and values have one weight, and so have the gate
---   and the map beside it; offset: files contain the gains of norms minus 1
---@return PublishedFamily family
function M.family(how)
  local family = { types = how.types, rope = how.rope or { base = "rope_theta" },
    prefix = "model.", head = "lm_head.weight",
    buffers = { "^layers%.%d+%.self_attn%.rotary_emb%.inv_freq$", "^rotary_emb%.inv_freq$" } }
  local norms = how.norms or PRE
  function family.ends(o)
    local list = layout.new()
    list:same("embed_tokens.weight", "embedding.weight", { o.vocabulary, o.d_model })
    list:norm("norm", "norm", o.d_model, false, how.offset)
    if not o.tied_embeddings then
      list:linear("lm_head", "logits", o.vocabulary, o.d_model, false)
    end
    return list.entries
  end
  function family.layer(o, index)
    local list, there = layout.new(), ("layers.%d."):format(index - 1)
    local here = ("layers.%d."):format(index)
    for _, name in ipairs(tables.keys(norms)) do
      list:norm(there .. name, here .. norms[name], o.d_model, false, how.offset)
    end
    add_attention(list, there .. "self_attn.", here .. "attention.", o, how)
    add_feed_forward(list, there .. "mlp.", here .. "feed_forward.", o, how)
    return list.entries
  end
  return family
end

return M
