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
end)
