local process = require("tests.process")
local scratch = require("tests.scratch")

describe("tests/main.lua", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  local function run()
    local status, output, errors = process.run({ "lua5.4", "tests/main.lua", scratch.path("") })
    assert.equal("", errors)
    return status, output
  end

  it("counts the tests of all files together", function()
    scratch.write("one_spec.lua", "it('a', function() end) it('b', function() end)")
    scratch.write("two_spec.lua", "it('c', function() end) it('d', function() pending 'why' end)")
    scratch.write("helper.lua", "error('no spec')")
    local status, output = run()
    assert.equal(0, status)
    assert.matches("two_spec.lua ended with status 0\n.*: why\n3 passed, 0 failed\n$", output)
    assert.is_nil(output:find("one_spec.lua ended", 1, true))
  end)

  it("skips tests that need a browser, and prints why, if none is installed", function()
    scratch.write("a_spec.lua", [[
      local browser = require("tests.browser")
      browser.find = function() return nil, "none is installed" end
      it("a", function() end)
      browser.it("opens a page", function() error("without a browser") end)
      teardown(require("tests.scratch").remove)]])
    local status, output = run()
    assert.equal(0, status)
    assert.matches("opens a page: none is installed\n1 passed, 0 failed\n$", output)
  end)

  it("reports each failure, also of a file that does not finish", function()
    scratch.write("a_spec.lua", "it('a', function() end) it('b', function() error('boom') end)")
    scratch.write("b_spec.lua", "it('a', function() os.exit(0) end)")
    scratch.write("c_spec.lua", "it('a', function() os.execute('kill -9 $PPID') end)")
    scratch.write("d_spec.lua", "this is no Lua")
    scratch.write("e_spec.lua", "it('a', function() end) teardown(function() error('late') end)")
    scratch.write("f_spec.lua", "finalizer = setmetatable({}, { __gc = function() os.exit(3) end })"
      .. " it('a', function() end)")
    scratch.write("g_spec.lua",
      "it('a', function() require('tests.process').run({ 'no-such-program' }) end)")
    local status, output = run()
    assert.equal(1, status)
    for _, text in ipairs({ "a_spec.lua ended with status 1\n", ": boom\n",
      "b_spec.lua ended with status 0\n", "c_spec.lua ended with status 1\nKilled\n",
      "syntax error", "late\n", ": cannot start no-such-program: ENOENT" }) do
      assert.truthy(output:find(text, 1, true), text .. "\n" .. output)
    end
    assert.matches("\n3 passed, 7 failed\n$", output)
    assert.equal(1, select(2, output:gsub("%d+ passed", "")))
  end)

  it("runs another command for each file, with --busted, in as many processes as --jobs", function()
    scratch.write("a_spec.lua", "it('a', function() assert.equal('yes', os.getenv('CHANGED')) end)")
    local status, output = process.run({ "lua5.4", "tests/main.lua", "--jobs=1",
      "--busted=env CHANGED=yes busted", scratch.path("") })
    assert.same({ 0, "1 passed, 0 failed" }, { status, output:match("[^\n]*passed[^\n]*") })
    status, output = process.run({ "lua5.4", "tests/main.lua", "--busted=false", scratch.path("") })
    assert.same({ 1, "0 passed, 1 failed" }, { status, output:match("[^\n]*passed[^\n]*") })
  end)

  it("counts a run without tests as a failure", function()
    assert.same({ 1, "0 passed, 0 failed\n" }, { run() })
  end)
end)
