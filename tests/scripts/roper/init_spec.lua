local catalogue = require("roper.workbench.help.catalogue")
local core = require("roper.core")
local roper = require("roper")

-- Every public name. What the library needs of C and nobody else does is not among them.
local PUBLIC <const> = [[
abs adam_step add all any apropos arange argmax argmin argsort attention attention_weights cat
causal_convolution ceil checkpoint clamp cos cross_entropy cumsum debug differentiable div dropout
eager einsum embedding enable_grad eq evaluate exp experiment export export_attention export_pytorch
eye flip floor format full gather ge gelu gelu_tanh generate gradcheck gradient_norm gt help
householder_scores householder_sums identity import index_select info interpret is_recording
isfinite isinf isnan layer_norm le lesson linear linear_attention linear_bfloat16
linear_cross_entropy linspace load load_npy load_safetensors log log_softmax logical_and logical_not
logical_or logical_xor lt matmul matmul_precision max maximum mean memory memory_limit memory_trim
min minimum mul ne neg nn no_grad norm ones ones_like optim oracle outer pack_bfloat16 plot position
pow print_options prod rand randint randn random_state ranks relu remainder rms_norm roll rotary
rotate round round_to runs save save_npy save_safetensors seed sgd_step sigmoid sign silu sin
softmax softplus sort sqrt square stack statistics std sub sum sweep tanh tasks tensor threads topk
train tril triu var version where zeros zeros_like
]]

describe("the table roper", function()
  it("contains the public names, and no others", function()
    local listed, there = {}, {}
    for name in PUBLIC:gmatch("[%w_]+") do
      listed[#listed + 1] = name
    end
    for _, name in ipairs(getmetatable(roper).__names()) do
      there[name] = true
    end
    local names = {}
    for name in pairs(there) do
      names[#names + 1] = name
    end
    table.sort(names)
    assert.same(listed, names)
  end)

  it("leaves internal functions to roper.native", function()
    for _, name in ipairs({ "interrupt_call", "json_null", "machine", "memory_fail_after",
      "prepare_readline", "tensor_metatable" }) do
      assert.is_not_nil(core[name])
      assert.error_matches(function() return roper[name] end, ('no field "%s"'):format(name))
      assert.is_nil(catalogue.entry("roper." .. name))
    end
  end)
end)
