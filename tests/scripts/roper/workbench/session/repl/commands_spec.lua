local roper = require("roper")
local scratch = require("tests.scratch")
local session = require("roper.workbench.session.repl.session")
local stdout = require("tests.stdout")

describe("the list of commands of a session", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("contains only input that is accepted, within 80 columns", function()
    local uv = require("luv")
    local before = uv.cwd()
    finally(function()
      uv.chdir(before)
      roper.debug(false)
      uv.os_unsetenv("EDITOR")
    end)
    uv.os_setenv("EDITOR", "true")
    local globals = setmetatable({ roper = roper, apropos = roper.apropos, x = 1,
      f = function(x) return x end }, { __index = _G })
    local current = session.new(globals)
    local function printed(text)
      local output, errors = stdout.capture_both(current.feed, current, text)
      return output .. errors
    end
    local script, saved = scratch.write("listed.lua", "made = 5"), scratch.path("listed_saved.lua")
    local keys = { Tab = true, ["Ctrl-R"] = true, ["Ctrl-C"] = true, ["Ctrl-D or exit"] = true }
    local stands_for = { ["%run FILE"] = "%run " .. script, ["%save FILE"] = "%save " .. saved,
      ["%cd FOLDER"] = "%cd " .. scratch.path(""), ["$ ls or !ls"] = "!ls >/dev/null",
      ["%up, %down"] = "%up" }
    printed("do local function g() error('listed') end g() end")
    local count = 0
    for line in printed("?"):gmatch("[^\n]+") do
      assert.is_true(#line <= 80, line)
      local example = line:match("^  (.-)  ")
      if example and not keys[example] then
        local text = printed(stands_for[example] or example)
        assert(text:find("^error") == nil, ("%s gives %s"):format(example, text))
        assert(not example:find("%bench", 1, true) or text:find(" runs?, %d+ threads?%)\n"), text)
        count = count + 1
      end
    end
    assert.is_true(count > 10)
    assert.equal(5, globals.made)
  end)
end)
