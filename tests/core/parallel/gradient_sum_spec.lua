local mpi = require("tests.mpi")
local scratch = require("tests.scratch")

before_each(scratch.create)
after_each(scratch.remove)

-- Run Lua on two ranks.
local function both(text)
  mpi.script(2, 'local core = require "roper.core" local rank = core.ranks_join()\n' .. text
    .. "\ncore.ranks_leave(false, 60)")
end

describe("a sum of gradients over ranks", function()
  mpi.it("contains the gradients of all ranks, in buckets of any size, for both dtypes", function()
    both([[
      local a, b = roper.zeros{3}:parameter(), roper.zeros({2, 2}, "float64"):parameter()
      local c, unused = roper.zeros{}:parameter(), roper.zeros{5}:parameter()
      for _, bytes in ipairs{1, 1, 20, 1 << 20} do
        local sum = core.gradient_sum({a, b, c, unused}, bytes)
        local loss = (a * roper.tensor{1, 2, 3}):sum() + (b:to "float32" * 10 ^ rank):sum()
        loss = rank == 1 and loss + c * 5 or loss
        a.grad, b.grad, c.grad = nil, nil, nil
        sum:backward(loss)
        assert(a.grad:eq(roper.tensor{2, 4, 6}):min():item() == 1, tostring(a.grad))
        assert(b.grad:dtype() == "float64" and b.grad:eq(11):min():item() == 1)
        assert(c.grad:item() == 5 and not unused.grad)
      end]])
  end)

  mpi.it("is sent while backward continues", function()
    both([[
      local last, first = roper.ones{2}:parameter(), roper.ones{2}:parameter()
      local sum = core.gradient_sum({first, last}, 1)
      local polls = 0
      local wait = roper.differentiable(function(x) return x * 1 end, function(dy)
        while last.grad:totable()[1] ~= 2 and polls < 1e6 do -- each sweep that ends asks MPI
          polls = polls + 1
          roper.enable_grad(function() (roper.zeros{}:parameter() * 1):backward() end)
        end
        return dy
      end)
      sum:backward((wait(first * 3) + last):sum())
      assert(polls < 1e6, "nothing came before the end")
      assert(first.grad:totable()[1] == 6 and last.grad:totable()[1] == 2)]])
  end)

  mpi.it("rejects a gradient that changes after it was sent", function()
    both([[
      local recompute = require "roper.model.recompute"
      local w = roper.ones{2}:parameter()
      local function f(x) return x * w end
      local sum = core.gradient_sum({w}, 1)
      local ok, message = pcall(sum.backward, sum, recompute(f, recompute(f, roper.ones{2})):sum())
      assert(not ok and message:find "gradient of parameter 1 %[2%] changed after its sum", message)
      ok, message = pcall(sum.backward, sum, (w * 2):sum())
      assert(not ok and message:find "earlier sum of these gradients was interrupted", message)]])
  end)

  mpi.it("rejects integers, which have no gradient", function()
    both([[
      local ok, message = pcall(core.gradient_sum, {roper.ones{2}, roper.ones({2}, "int32")}, 1)
      assert(not ok and message:find "expected float parameters, got int32 as element 2",
        message)]])
  end)
end)
