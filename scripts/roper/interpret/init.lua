--- Looks inside trained models: what heads attend to, which frequencies they use, and what changes
--- if a part is ablated or replaced. The functions work for models with any position scheme and
--- never change them; `plot.heatmap` draws their results. They use `Module:trace` and
--- `Module:with_hooks`, with which you can write more.
local M = {}

for _, part in ipairs { "pattern", "frequency", "ablation", "lens", "patching" } do
  for name, f in pairs(require("roper.interpret." .. part)) do
    M[name] = f
  end
end

return M
