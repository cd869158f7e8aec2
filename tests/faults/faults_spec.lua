local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")
local watch = require("tests.faults.watch")

-- Scripts that handle a failing call badly, with the problem that is found.
local PLANTED <const> = {
  { "no error", [[pcall(files.write, context.path, "text")]] },
  { "no error, but the result is bad",
    [[if not pcall(files.write, context.path, "text") then return "bad" end]] },
  { "holds", [[
    local ok, problem = pcall(files.write, context.path, "text")
    if not ok then
      context[#context + 1] = require("roper").ones({ 100 })
      error(problem, 0)
    end]] },
  { "the error does not name the fault: oops",
    [[if not pcall(files.write, context.path, "text") then error("oops", 0) end]] },
  { "the file is torn", [[
    local file = assert(io.open(context.path, "w"))
    assert(file:write("te"))
    assert(file:flush())
    assert(file:write("xt"))
    assert(file:close())]] },
  { "the process ended by status 3",
    [[if not pcall(files.write, context.path, "text") then os.exit(3) end]] },
}

local FORM <const> = [[
  local files = require("roper.system.file")
  return {
    prepare = function(folder) return { path = folder .. "/x" } end,
    reset = function(context) files.write(context.path, "text") end,
    run = function(context)
      %s
      return "good"
    end,
    check = function(context)
      local text = files.read(context.path)
      assert(text == "text", "the file is torn")
    end,
  }]]

describe("injection of faults", function()
  local library

  setup(function()
    scratch.create()
    library = scratch.path("faults.so")
    watch.build(library)
  end)
  teardown(scratch.remove)

  -- Runs a job to its end.
  local function run(script, class, most)
    local result
    watch.start(library, { script = script, class = class, variant = "once", most = most,
      seed = 1 }, function(found) result = found end)
    uv.run()
    return result
  end

  it("finds no fault in a training step and in tokenization", function()
    for script, class in pairs({ step = "lua", tokens = "system" }) do
      local result = run(script, class, 5)
      assert.same({}, result.wrong)
      assert.is_true(result.runs == 5 and result.calls > 20)
    end
  end)

  it("finds planted faults", function()
    for i, planted in ipairs(PLANTED) do
      local path = scratch.write(("planted%d.lua"):format(i), FORM:format(planted[2]))
      local found = {}
      for _, wrong in ipairs(run(path, "system", 3).wrong) do
        found[#found + 1] = wrong.problem
      end
      assert.truthy(table.concat(found, "\n"):find(planted[1], 1, true),
        planted[1] .. "; got: " .. table.concat(found, "\n"))
    end
  end)
end)

describe("roper", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("works or fails with a message if memory, descriptors, a home or an output is missing",
    function()
      local limits = require("tests.faults.limits")
      for _, environment in ipairs(limits.ENVIRONMENTS) do
        local command = limits.COMMANDS[2]
        local line = limits.line(environment, command)
        local status, output, errors = process.run({ "sh", "-c", line }, "",
          { OMP_NUM_THREADS = "1" })
        assert.is_true(limits.fits(environment, command, status, output, errors),
          ("%s\nstatus %d\n%s%s"):format(line, status, output, errors))
      end
    end)
end)
