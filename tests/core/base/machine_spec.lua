local core = require("roper.core")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

describe("threads", function()
  -- The number of threads of a new process after `line`.
  local function threads_after(line)
    local status, output, errors = process.run({ "./roper", "-e", line
      .. " for text in io.lines '/proc/self/status' do print(text:match '^Threads:%s*(%d+)') end" })
    assert.equal(0, status, errors)
    return tonumber(output:match("%d+"))
  end

  -- libuv may have a thread of the kernel (io_uring).
  local alone = threads_after("")

  it("are as many as were asked for, in products too", function()
    local product = " x = roper.randn{600, 600}; x:matmul(x);"
    assert.equal(alone, threads_after("roper.threads(1)" .. product))
    assert.equal(alone + 2, threads_after("roper.threads(3)" .. product))
  end)

  it("give the same bits if they must wait for a core", function()
    -- Gradients are summed by thread; on one core, the second thread soon takes no part.
    local status, output, errors = process.run({ "taskset", "-c", "0", "./roper", "-e", [[
      roper.threads(2)
      local x, w = roper.randn{2048, 256}, roper.randn({256, 256}):parameter()
      local gain, bias = roper.ones({256}):parameter(), roper.zeros({256}):parameter()
      local first, same = nil, 0
      for i = 1, 60 do
        w.grad, gain.grad = nil, nil
        local y = roper.layer_norm(roper.linear(x, w), gain, bias)
        ;(y * y * x):sum():backward()
        local now = ("%a %a"):format((w.grad * w):sum():item(), (gain.grad * x[1]):sum():item())
        first = first or now
        same = same + (first == now and 1 or 0)
      end
      print(same)
    ]] })
    assert.same({ 0, "", "60\n" }, { status, errors, output })
  end)

  it("share no work that takes less time than waking them", function()
    assert.equal(alone,
      threads_after("roper.threads(3) x = roper.randn{64, 64}; x = x:matmul(x) + x;"))
  end)

  describe("take part", function()
    local present

    setup(function()
      scratch.create()
      assert.equal(0, (process.run({ "cc", "-std=c11", "-I.", "-o", scratch.path("present"),
        "tests/core/base/present.c", "core/base/threads.c", "core/base/status.c" })))
      function present(...)
        local arguments = { scratch.path("present") }
        for _, interval in ipairs { ... } do
          table.move(interval, 1, 4, #arguments + 1, arguments)
        end
        local _, output = process.run(arguments)
        return output
      end
    end)

    teardown(function()
      scratch.remove()
    end)

    it("unless other programs keep the cores busy", function()
      local function interval(seconds, percent)
        return { "1000", "10000", tostring(seconds * 1000000), tostring(percent) }
      end
      assert.equal(("2"):rep(300), present(interval(3, 0)))
      assert.equal(("2"):rep(300), present(interval(3, 10))) -- of two threads, in all
      local busy = present(interval(5, 50))
      assert.matches("^2+1+2+1+2+1+", busy)
      assert.is_true(select(2, busy:gsub("1", "")) > 400)
      assert.matches(("2"):rep(300) .. "$", present(interval(5, 50), interval(9, 0)))
    end)

    it("in short work only while they spin after other work", function()
      local short, long, late = { "60", "50", "500", "0" }, { "600", "700", "700", "0" },
        { "60", "700", "700", "0" }
      assert.equal(("1"):rep(10), present(short))
      assert.equal("2" .. ("2"):rep(10), present(long, short))
      assert.equal("21" .. ("1"):rep(10), present(long, late, short))
    end)
  end)

  it("are counted and set", function()
    local threads = roper.threads()
    assert.is_true(threads >= 1)
    assert.equal(1, roper.threads(1))
    assert.equal(1, roper.threads())
    assert.equal(2, roper.threads(2))
    assert.equal(threads, roper.threads(threads))
  end)

  it("reject invalid numbers", function()
    for _, n in ipairs({ 0, -1, 1 << 20, 1.5, 2 ^ 40, 0 / 0, "many" }) do
      assert.error_matches(function() roper.threads(n) end,
        "threads: expected an integer from 1 to %d+, got ")
    end
    assert.error_matches(function() roper.threads(1, 2) end, "threads: expected at most 1")
  end)
end)

describe("machine", function()
  it("reports what results and timings depend on", function()
    local machine = core.machine()
    assert.matches("%S", machine.processor)
    assert.matches("%a BLAS$", (machine.blas:gsub("^OpenBLAS %w+$", "open BLAS")))
    assert.is_true(({ portable = true, neon = true, ["x86-64-v3"] = true,
      ["x86-64-v4"] = true })[machine.instructions])
    assert.equal(roper.threads(), machine.threads)
  end)

  it("uses lower kernels that ROPER_KERNELS names, but no higher ones", function()
    local function instructions(setting)
      local program <close> = assert(io.popen("env " .. setting
        .. " ./roper -e 'require[[roper.core]].machine().instructions'"))
      return program:read("a")
    end
    local best = instructions("-u ROPER_KERNELS")
    assert.is_true(({ ['"portable"\n'] = true, ['"neon"\n'] = true })
      [instructions("ROPER_KERNELS=portable")])
    assert.equal(best, instructions("ROPER_KERNELS=x86-64-v4"))
    assert.equal(best, instructions("ROPER_KERNELS="))
  end)

  it("refuses another name in ROPER_KERNELS", function()
    for _, name in ipairs({ "nonsense", "X86-64-V3", "portable " }) do
      local status, output, errors = process.run({ "./roper", "-e", "print(1)" }, nil,
        { ROPER_KERNELS = name })
      assert.equal(1, status)
      assert.equal("", output)
      assert.equal("ROPER_KERNELS: expected portable, x86-64-v3, x86-64-v4, avx512-bf16 or "
        .. 'amx-bf16, got "' .. name .. '"\n', errors)
    end
  end)
end)
