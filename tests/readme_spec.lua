local roper = require("roper")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

describe("README", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("shows a session as it really is", function()
    local shown = scratch.read("README.md"):match("\n```\n%$ ./roper\n.-\n(> .-)```\n")
    local entries = {}
    for line in shown:gmatch("([^\n]*)\n") do
      local input = line:match("^> (.*)")
      if input then
        entries[#entries + 1] = { input = input, output = "" }
      else
        entries[#entries].output = entries[#entries].output .. line .. "\n"
      end
      assert.is_true(utf8.len(line) <= 80)
    end
    assert.is_true(#entries > 5)
    local screen = sessions.start()
    for _, entry in ipairs(entries) do
      sessions.enter(screen, entry.input, entry.output)
    end
    sessions.leave(screen)
  end)

  it("tells of position schemes in lines that run", function()
    local shown = scratch.read("README.md"):match("\n## Position schemes\n\n```lua\n(.-)```\n")
    local results = {}
    for line in shown:gsub('"scores.svg"', "path"):gmatch("[^\n]+") do
      local chunk = assert(load("return " .. line, line, "t", { roper = roper, plot = roper.plot,
        path = scratch.path("scores.svg") }))
      results[#results + 1] = chunk()
    end
    assert.equal(#roper.position.list(), #results[1])
    assert.equal("yarn", results[2].name)
    assert.is_true(results[3].ok)
    assert.truthy(scratch.read(results[4]):find(">xpos<", 1, true))
  end)
end)
