-- Error messages for lines of PyTorch and Python, with the Lua to type instead.

local habits = require("roper.workbench.help.habits")
local page = require("roper.workbench.help.pytorch")
local roper = require("roper")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local stdout = require("tests.stdout")

-- Starts a session with the variables of the rows. Returns a function from a line to its output.
local function start()
  require("roper.workbench.help").name_in_failures()
  local globals = { PATH = scratch.path("x.npy") }
  for name, value in pairs(_G) do
    globals[name] = value
  end
  globals._G, globals.roper, globals.plot = globals, roper, roper.plot
  local current = session.new(globals)
  local function answer(line)
    local output, errors, rest = stdout.capture_both(current.feed, current, line)
    assert(rest == nil, "not complete: " .. line)
    return output .. errors
  end
  assert.equal("", answer(page.NAMES))
  assert.equal("", answer("model = roper.nn.Linear{inputs = 3, outputs = 2}"))
  assert.equal("", answer("adam = roper.optim.Adam()"))
  return answer
end

-- Rows whose Python is valid Lua with the same meaning.
local SAME <const> = { ["x[-1]"] = true, ["x[i]"] = true, ["x * y + 1"] = true, ["x % 2"] = true }

describe("habits from PyTorch and Python", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("get the Lua of their row of ?pytorch in the error message", function()
    for _, group in ipairs(page.groups) do
      for _, row in ipairs(group.rows) do
        local shown = start()(row[1])
        if SAME[row[1]] then
          assert.falsy(shown:find("^error"), row[1])
        else
          assert.truthy(shown:find(row[2], 1, true), row[1] .. "\n" .. shown)
        end
      end
    end
  end)

  it("are distinguished from Lua", function()
    assert.is_true(habits.is_python("for i in range(3):"))
    assert.is_false(habits.is_python("for i = 1, 3 do"))
  end)
end)
