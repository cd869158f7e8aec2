--- GPT-2's layout (Radford et al. 2019).
local config = require "roper.model.published.config"
local core = require "roper.core"
local layout = require "roper.model.published.layout"

---@class PublishedFamily
---@field types table<string, table> for each `model_type`: its architecture, `rows` (ConfigRow[]),
---   `fixed`, options that its models always have, as values or functions of the other options, and
---   `kinds`, a KindsForm, if layers differ
---@field prefix string of names in the files, which they may lack
---@field head string name of the weight of the logits
---@field buffers string[] patterns of tensors that are not parameters
---@field rope? table how the config describes rotation, as for `rope.read` and `rope.fields`
---@field ends fun(o: table): LayoutEntry[] parameters outside the layers
---@field layer fun(o: table, index: integer): LayoutEntry[] of a layer, from 1

local ROWS <const> = {
  { "vocab_size", "tokens", option = "vocabulary", kind = "size" },
  { "n_positions", "largest number of tokens", option = "length", kind = "size" },
  { "n_embd", "features of a token", option = "d_model", kind = "size" },
  { "n_layer", "layers", option = "layers", kind = "size" },
  { "n_head", "heads", option = "heads", kind = "size" },
  { "n_inner", "features of the feed-forward; null for 4 n_embd", option = "d_ff", kind = "size",
    default = core.json_null },
  { "activation_function", "activation of the feed-forward", option = "activation",
    choices = config.ACTIVATIONS, default = "gelu_new" },
  { "layer_norm_epsilon", "epsilon of the norms", option = "norm_epsilon", kind = "amount",
    default = 1e-5 },
  { "tie_word_embeddings", "one weight for embedding and logits", option = "tied_embeddings",
    kind = "boolean", default = true },
  { "scale_attn_weights", "divide scores by √d", only = true, default = true },
  { "scale_attn_by_inverse_layer_idx", "divide scores by the layer's number", only = false,
    default = false },
  { "add_cross_attention", "attend to an encoder", only = false, default = false },
  { "reorder_and_upcast_attn", "order of rounding", unused = true },
  { "n_ctx", "the same as n_positions", unused = true },
}

return {
  types = { gpt2 = { architecture = "GPT2LMHeadModel", rows = ROWS, fixed = {
    norm = "pre", rms_norm = false, embedding_scale = 1, logits_bias = "none",
    attention_bias = "all", feed_forward_bias = "all", parallel_residual = false,
    qk_norm = "none", attention_softcap = 0, logits_softcap = 0 } } },
  prefix = "transformer.",
  head = "lm_head.weight",
  buffers = { "^h%.%d+%.attn%.bias$", "^h%.%d+%.attn%.masked_bias$" },
  ends = function(o)
    local list = layout.new()
    list:same("wte.weight", "embedding.weight", { o.vocabulary, o.d_model })
    list:same("wpe.weight", "layers.1.attention.position.table", { o.length, o.d_model })
    list:norm("ln_f", "norm", o.d_model, true)
    if not o.tied_embeddings then
      list:linear("lm_head", "logits", o.vocabulary, o.d_model, false)
    end
    return list.entries
  end,
  layer = function(o, index)
    local list, there = layout.new(), ("h.%d."):format(index - 1)
    local here = ("layers.%d."):format(index)
    list:norm(there .. "ln_1", here .. "attention_norm", o.d_model, true)
    list:transposed(there .. "attn.c_attn", { here .. "attention.query", here .. "attention.key",
      here .. "attention.value" }, 3 * o.d_model, o.d_model)
    list:transposed(there .. "attn.c_proj", { here .. "attention.output" }, o.d_model, o.d_model)
    list:norm(there .. "ln_2", here .. "feed_forward_norm", o.d_model, true)
    list:transposed(there .. "mlp.c_fc", { here .. "feed_forward.inner" }, o.d_ff, o.d_model)
    list:transposed(there .. "mlp.c_proj", { here .. "feed_forward.outer" }, o.d_model, o.d_ff)
    return list.entries
  end,
}
