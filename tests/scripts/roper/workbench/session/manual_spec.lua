local cli = require("roper.workbench.session.cli")
local manual = require("roper.workbench.session.manual")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

describe("the manual page", function()
  local page = manual.page("2026-11-23")

  setup(scratch.create)
  teardown(scratch.remove)

  it("describes every command with its options", function()
    assert.equal(('.TH ROPER 1 2026-11-23 "roper %s"'):format(roper.version),
      page:match("^[^\n]+"))
    for _, name in ipairs(cli.COMMANDS) do
      local part = (page .. ".S"):match("\n%.SS " .. name .. "\n(.-)\n%.S")
      assert.truthy(part, name)
      local _, command = cli.parser(name)
      for option in command:get_help():gmatch("\n   (%-%-?%a[%a-]*)") do
        assert.truthy(part:find(".B " .. option:gsub("%-", "\\-"), 1, true), name .. " " .. option)
      end
    end
  end)

  it("escapes text that roff would read as a macro", function()
    for line in page:gmatch("[^\n]+") do
      assert.truthy(not line:find("^[.']") or line:find("^%.%u%u? ?") or line:find("^%.nf$")
        or line:find("^%.fi$"), line)
    end
  end)

  it("has no faults for man and mandoc", function()
    local path = scratch.write("roper.1", page)
    if not process.missing("groff") then
      local _, _, errors = process.run({ "groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", path })
      assert.equal("", errors)
    end
    if not process.missing("mandoc") then
      local _, output = process.run({ "mandoc", "-Tlint", path })
      assert.equal("", output)
    end
  end)
end)
