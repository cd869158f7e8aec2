--- A short causal convolution along time.
local arguments = require "roper.options.arguments"
local caches = require "roper.attention.cache"
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"

local M = {}

--- A short causal convolution of each feature, created by `roper.nn.ShortConvolution`.
---@class ShortConvolution: Module
---@field weight tensor [features, width]; the last column is the weight of the same token
local ShortConvolution = modules.class "ShortConvolution"

local OPTIONS <const> = options_of.define("ShortConvolutionOptions", {
  { "features", "size" },
  { "width", "size", 4, "tokens of the convolution, with the current one" },
})

--- Creates a depthwise causal convolution with a residual connection and without bias or
--- activation: a Canon layer (Allen-Zhu 2025, arXiv 2512.17351). Initial weights are uniform in
--- ±1/√width, as in the released code.
---
---     y_t = x_t + Σ_k w_k x_{t−k},   0 <= k < width
---
--- Errors: features or width is not a positive integer.
---
---     > roper.nn.ShortConvolution{features = 8}:count()
---     32
---@param options ShortConvolutionOptions
---@return ShortConvolution module
function M.ShortConvolution(options)
  local o = options_of.check("ShortConvolution", options, OPTIONS)
  local limit = o.width ^ -0.5
  local weight = core.rand { o.features, o.width } * (2 * limit) - limit
  return setmetatable({ weight = weight:parameter() }, ShortConvolution)
end

--- Applies the convolution to x.
---
--- Errors: x is not [batch, time, features].
---
---     > convolution = roper.nn.ShortConvolution{features = 2, width = 3}
---     > convolution.weight:copy(roper.tensor{{0, 2, 1}, {1, 0, 0}});
---     > convolution(roper.tensor{{{1, 1}, {10, 10}, {100, 100}}})
---     float32 [1, 3, 2]
---       2   1
---      22  10
---     220 101
---@param x tensor [batch, time, features]
---@param cache? CacheLayer keeps x for the tokens that follow
---@return tensor y [batch, time, features]
function ShortConvolution:forward(x, cache)
  arguments.check("forward", "x", "tensor", x)
  caches.check_layer("forward: cache", cache)
  local features = self.weight:size(1)
  if x:rank() ~= 3 or x:size(3) ~= features then
    error(("ShortConvolution: x: expected [batch, time, %d], got %s"):format(features,
      modules.kind_of(x)), 2)
  end
  local whole = cache and cache:keep(self, "inputs", x) or x
  local time = x:size(2)
  local near = math.min(whole:size(2), time + self.weight:size(2) - 1)
  local y = core.causal_convolution(whole:narrow(2, whole:size(2) - near + 1, near), self.weight)
  return x + y:narrow(2, near - time + 1, time)
end

return M
