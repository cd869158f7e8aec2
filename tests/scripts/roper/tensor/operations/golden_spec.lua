local arrays = require("tests.arrays")
local golden = require("tests.golden")
local roper = require("roper")

local index = roper.tensor({ { 3, 1 }, { 2, 3 } }, "int32")

-- The same as in fixtures/everyday.py, counting from 1.
local one_input = {
  std = function(x) return x:std(2) end,
  var_all = function(x) return x:var() end,
  var_axes = function(x) return x:var({ 1, 3 }, true, 0) end,
  norm = function(x) return x:norm(2, 3) end,
  norm_1 = function(x) return x:norm(1, 1) end,
  norm_3 = function(x) return x:norm(3) end,
  norm_inf = function(x) return x:norm(math.huge, { 2, 3 }) end,
  norm_zeros = function(x) return x:norm(2, 3) end,
  std_equal = function(x) return x:std(3) end,
  std_one = function(x) return x:std(2, false, 0) end,
  norm_zero = function(x) return x:norm(1.5, 2) + x:norm(3, 2) end,
  clamp = function(x) return x:clamp(-0.5, 0.7) end,
  prod = function(x) return x:prod(3) end,
  prod_all = function(x) return x:prod() end,
  prod_zeros = function(x) return x:prod(3) end,
  cumsum = function(x) return x:cumsum(2) end,
  sort = function(x) return (x:sort(2)) end,
  topk = function(x) return (x:topk(2, 3)) end,
  bottomk = function(x) return (x:topk(2, 1, false)) end,
  tril = function(x) return x:tril(1) end,
  triu = function(x) return x:triu(-1) end,
  flip = function(x) return x:flip({ 1, 3 }) end,
  roll = function(x) return x:roll(2, 2) end,
  roll_all = function(x) return x:roll(-7) end,
  remainder = function(x) return x % -0.3 end,
  index = function(x) return x[{ {}, {}, index }] end,
  pairs = function(x) return x[{ index, index:flip(1) }] end,
  mask = function(x) return x[x:gt(0.2)] end,
  index_select = function(x) return x:index_select(2, index[2]) end,
  sum_axes = function(x) return x:sum({ 1, 3 }) end,
  mean_axes = function(x) return x:mean({ 2, 3 }, true) end,
  amax = function(x) return x:max({ 1, 2 }) end,
}

local function check(name, f, letters)
  golden.each(name, function(values, tolerance)
    local inputs = {}
    for i, letter in ipairs(letters) do
      inputs[i] = values[letter]:clone():parameter()
    end
    local y = f(table.unpack(inputs))
    arrays.close(values.y, y, tolerance * 10, name)
    y:backward(values.dy)
    for i, letter in ipairs(letters) do
      arrays.close(values["d" .. letter], inputs[i].grad, tolerance * 100, name .. " d" .. letter)
    end
  end, "everyday")
end

describe("everyday operations agree with PyTorch, also in gradients:", function()
  for name, f in pairs(one_input) do
    it(name, function()
      check(name, f, { "x" })
    end)
  end

  it("outer", function()
    check("outer", roper.outer, { "a", "b" })
  end)

  for equation, count in pairs({ ["ij,jk->ik"] = 2, ["bhid,bhjd->bhij"] = 2, ["iij->j"] = 1,
    ["ba,cb"] = 2, ["i,j,ik->kj"] = 3, ["...ij,...j->...i"] = 2, ["ijk->"] = 1,
    ["ab,ab->ab"] = 2, ["ii,i"] = 2, ["...ij,...jk->...ik"] = 2, ["...i,...i->..."] = 2,
    ["i...,...,...j"] = 3, ["...i,...->i"] = 2 }) do
    it("einsum " .. equation, function()
      check("einsum " .. equation, function(...)
        return roper.einsum(equation, ...)
      end, table.move({ "a", "b", "c" }, 1, count, 1, {}))
    end)
  end

  it("every operation of the fixture", function()
    local core, known = require("roper.core"), { outer = true }
    for key in pairs(core.load_safetensors("tests/fixtures/everyday.safetensors")) do
      local name = key:match("^(.*)%.d?%w+$")
      assert(one_input[name] or known[name] or name:find("^einsum "), name)
    end
  end)
end)
