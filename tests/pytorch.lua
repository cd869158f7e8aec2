-- Models exported for PyTorch: the cases of every scheme, and a Python with PyTorch.

local cases = require("roper.model.battery.case")
local files = require("roper.system.file")
local roper = require("roper")

local M = {}

--- The Python that runs exported modules.
M.PYTHON = os.getenv("PYTHON") or "python3"

--- The reason to skip a test that needs PyTorch; nil if it is installed.
---@return string?
function M.missing()
  if M.found == nil then
    M.found = os.execute(M.PYTHON .. " -c 'import torch' 2>/dev/null") or false
  end
  return not M.found and ("no PyTorch here: %s cannot import torch"):format(M.PYTHON) or nil
end

-- Options with which short texts reach every branch, several for some schemes.
local OPTIONS = {
  accumulated = { "", "angles=random" },
  cope = { "count=8", "count=8,scaled_gates=true" },
  deberta = { "clip=5" },
  fire = { "hidden=6" },
  grape_a = { "", "gates=q", "gates=k" },
  grape_m = { "", "context=false", "per_head=true,step_per_head=true" },
  hope = { "trained_length=128" },
  learned_frequencies = { "", "per_head=true" },
  linear = { "factor=4" },
  llama3 = { "trained_length=64" },
  longrope = { "trained_length=20,short={1,1,2,3},long={1,2,4,8}", "trained_length=64",
    "fraction=0.5,last=true,trained_length=64" },
  mrope = { "", "interleaved=true,sections={2,1,1}" },
  ntk = { "factor=4", "trained_length=20" },
  path = { "rank=4", "rank=4,gate=true" },
  proportional = { "fraction=0.5" },
  rope = { "", "pairing=interleaved", "fraction=0.5,last=true,pairing=interleaved",
    "fraction=0.5,value_fraction=0.25,magnitude=1.5" },
  selective = { "rank=4,bias=true,gate=true", "rank=4", "convolution=false" },
  shaw = { "clip=5" },
  ssmax = { "", "start=0.5" },
  t5 = { "buckets=8,distance=16" },
  transformer_xl = { "clip=5" },
  twice = { "", "fraction=0.5,value_fraction=0.25,pairing=interleaved" },
  window = { "size=6,sinks=2", "size=6" },
  xpos = { "fraction=0.5,last=true", "centre=10,span=64" },
  yarn = { "factor=4,trained_length=64", "factor=4,trained_length=64,ramp=turns,fast=4",
    "fraction=0.5,factor=4,trained_length=64" },
}

--- The kinds of models that schemes are tested in.
M.MODELS = {
  pre = {},
  post = { norm = "post", activation = "gelu" },
  rms = { rms_norm = true, activation = "swiglu", kv_heads = 2, tied_embeddings = true,
    attention_bias = "none", feed_forward_bias = "none", logits_bias = "none" },
}

--- Combined schemes, and further options of models: the position and the options.
M.OTHERS = {
  { { "window{size=6}+rope", "rope" } }, { { "rope", "none" } },
  { { "rope", "t5{buckets=8,distance=16}" } },
  { "rope+alibi+ssmax" }, { "window{size=6}+ssmax+kerple", M.MODELS.rms },
  { { "sinusoidal+shaw{clip=3}", "learned" } },
  { { "rope{base=500}", "rope", "roper" }, { layers = 5 } },
  { { "rope{pairing=interleaved}", "grape_ap+rope" } }, { "t5+kerple", { layers = 3 } },
  { "path{rank=4,rotate=qkvo}+ssmax" }, { "pope+alibi" }, { "deberta{clip=3}+alibi+ssmax" },
  { { { type = "rope", rotate = "vo" }, { type = "axial", rotate = "q" } } },
  { "none", { parallel_residual = true, activation = "gelu_tanh", attention_bias = "qkv" } },
  { "roper", { tied = true, kv_heads = 1, embedding_scale = 3, layers = 1 } },
  { "selective{rank=4,bias=true,gate=true,rotate=qkvo}", { dropout = 0.1 } },
  { "shaw{clip=3}", { dropout = 0.1, parallel_residual = true } },
  { "alibi", { dropout = 0.1, norm = "post" } },
  { "rope", { head_dim = 6, qk_norm = "head", kv_heads = 2, short_convolution = 4 } },
  { "accumulated{rotate=qkvo}", { short_convolution = 3, tied = true } },
  { "none", { short_convolution = 1 } }, { "rope", { short_convolution = 0 } },
  { "rope", { qk_norm = "all", kv_heads = 2, rms_norm = true, norm = "reordered" } },
  { { "window{size=6}+rope", "rope" }, { norm = "sandwich", attention_softcap = 2, dropout = 0.1,
    logits_softcap = 3, attention_scale = 0.2, activation = "geglu_tanh", head_dim = 10 } },
  { "shaw{clip=3}", { attention_scale = 0.5, activation = "geglu", tied = true,
    qk_norm = "head" } },
  { "path{rank=4,rotate=qkvo}+ssmax", { attention_softcap = 2, attention_scale = 0.3 } },
  { roper.position.alibi({ heads = 4 }) }, { roper.position.yarn({ dim = 8, factor = 4 }) },
  { { roper.rotary({ dim = 8, frequencies = { 1, 0.3, 0.1 }, growth = { 0.01, 0.02, 0.03 },
    coordinates = { 1, 2, 1 }, rotate = "qkvo", magnitude = 1.2 }), "t5{buckets=8,distance=16}" } },
  { { type = "join", parts = { { type = "rope", base = 500 }, { type = "kerple" } } } },
  { "none", { attention_softcap = 1, norm = "sandwich" } }, { "none", { attention_scale = 1 } },
  { "cope{scaled_gates=true,count=8}", { attention_scale = 0.2 } },
  { "cope{scaled_gates=true,count=8}+deberta{clip=3}" },
}

--- A scheme with options and, if it rotates, the same with `rotate=qkvo`.
---@param scheme string
---@return string[] positions the first has the most code
function M.positions(scheme)
  local takes, list = roper.position.takes(scheme), {}
  for _, options in ipairs(OPTIONS[scheme] or { "" }) do
    if takes.rotate then
      list[#list + 1] = ("%s{%s%srotate=qkvo}"):format(scheme, options, options == "" and ""
        or ",")
    end
    list[#list + 1] = options == "" and scheme or ("%s{%s}"):format(scheme, options)
  end
  return list
end

--- A small model whose parameters differ from those at the start, which are often 0.
---@param options table of the Transformer
---@return table model
function M.model(options)
  roper.seed(1)
  local all = { vocabulary = 11, d_model = 32, heads = 4, layers = 2, d_ff = 24, length = 30 }
  for name, value in pairs(options) do
    all[name] = value
  end
  local model = cases.stir(roper.nn.Transformer(all), "float32")
  if all.tied_embeddings then
    model.logits.weight = model.embedding.weight
  end
  return model
end

--- Exports a scheme in a kind of model.
---@param folder string
---@param position string|table
---@param kind table of `MODELS`, or other options
---@return string text of the module
function M.export(folder, position, kind)
  local options = { position = position }
  for name, value in pairs(kind) do
    options[name] = value
  end
  roper.export_pytorch(M.model(options), folder)
  return files.read(folder .. "/model.py")
end

return M
