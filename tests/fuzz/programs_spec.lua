local arrays = require("tests.arrays")
local programs = require("tests.fuzz.programs")
local reference = require("tests.fuzz.reference")

describe("random programs", function()
  it("give the same values and gradients as the reference in plain Lua", function()
    arrays.each_seed(20, function()
      for _ = 1, 30 do
        local program = programs.random()
        assert.is_nil(programs.judge(program), table.concat(program.lines, "\n"))
      end
    end)
  end)

  -- The first program that differs while a function of the reference has a fault, shrunk.
  local function found(holder, name, planted)
    local right, program = holder[name], nil
    holder[name] = planted(right)
    for seed = 1, 300 do
      math.randomseed(seed)
      program = programs.random()
      if programs.judge(program) then
        break
      end
    end
    program = programs.shrunk(program, programs.judge)
    local problem = programs.judge(program)
    holder[name] = right
    return program, problem
  end

  it("find a wrong value or shape, and are shrunk to the wrong operation", function()
    for name, planted in pairs({
      relu = function() return function(x) return x:abs() end end,
      cumsum = function(right) return function(x, axis) return right(x:flip(axis), axis) end end,
      unsqueeze = function(right) return function(x) return right(x, 1) end end,
      mean = function(right) return function(x, axis) return right(x, axis) end end,
    }) do
      local program, problem = found(reference.methods, name, planted)
      assert.is_string(problem, name)
      assert.matches(name, program.lines[#program.lines])
      assert.is_true(#program.lines <= 3, table.concat(program.lines, "\n"))
    end
  end)

  it("find a wrong gradient", function()
    local program, problem = found(reference, "derivatives", function(right)
      return function(x, weights)
        local derivatives, sizes = right(x, weights)
        for e, value in pairs(derivatives) do
          derivatives[e] = value * 2
        end
        return derivatives, sizes
      end
    end)
    assert.matches("^the gradient of t", problem)
    assert.is_true(#program.lines <= 2)
  end)

  it("report a program that roper refuses", function()
    local lines = { "a = input({1, 2}, {2}, 'float64')", "b = a:square()" }
    assert.is_nil(programs.judge({ lines = lines, is_exact = true }))
    reference.unknown = function(x) return x end
    finally(function() reference.unknown = nil end)
    lines[2] = "b = roper.unknown(a)"
    assert.matches("unknown", programs.judge({ lines = lines, is_exact = true }))
  end)
end)
