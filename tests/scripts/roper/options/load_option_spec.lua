local process = require("tests.process")
local scratch = require("tests.scratch")

-- The text that says what was run, and the words that run it again, in a process of its own.
local function preload(code)
  local program = ("local preload = require 'roper.options.load_option' %s"):format(code)
  local status, output, errors = process.run({ "./roper", "-e", program })
  return status == 0 and output or errors
end

describe("load_option.run", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("runs a file once, and returns the hash of its content", function()
    local path = scratch.path("one.lua")
    scratch.write("one.lua", "count = (count or 0) + 1")
    local function text()
      return preload(("preload.run(%q) preload.run(%q) io.write(count, ' ', preload.text())")
        :format(path, path))
    end
    local first = text()
    assert.truthy(first:find("^1 one.lua %x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x\n?$"), first)
    assert.equal(first, text())
    scratch.write("one.lua", "count = (count or 0) + 1 -- changed")
    assert.not_equal(first, text())
  end)

  it("includes the content of the modules and files of its folder that it runs", function()
    scratch.write("one.lua", [[
      local require = require
      late = function() return require "parts.late" end
      require "parts.first"
      dofile((debug.getinfo(1, "S").source:match "^@(.*)/") .. "/second.lua")
      return require "luv", roper.position.list()]])
    os.execute("mkdir '" .. scratch.path("parts") .. "'")
    scratch.write("parts/first.lua", "return require 'parts.third'")
    scratch.write("parts/third.lua", "return 1")
    scratch.write("parts/late.lua", "return 1")
    scratch.write("second.lua", "")
    local function text()
      return preload(("preload.run(%q) late() io.write(preload.text())"):format(
        scratch.path("one.lua")))
    end
    local first = text()
    local hash = " " .. ("%x"):rep(16)
    assert.truthy(first:find("^one.lua" .. hash .. ", module parts/first.lua" .. hash
      .. ", module parts/third.lua" .. hash .. ", module second.lua" .. hash .. "\n?$"), first)
    scratch.write("parts/third.lua", "return 2")
    assert.not_equal(first, text())
    assert.equal("true true true", preload(("local a, b, c = require, dofile, loadfile "
      .. "preload.run(%q) io.write(('%%s %%s %%s'):format(a == require, b == dofile, "
      .. "c == loadfile))"):format(scratch.path("one.lua"))))
  end)

  it("runs the files beside a file, not those of the current folder", function()
    for _, folder in ipairs({ "here", "run" }) do
      os.execute(("mkdir '%s'"):format(scratch.path(folder)))
      scratch.write(folder .. "/one.lua", "dofile 'two.lua' loadfile('two.lua')()")
      scratch.write(folder .. "/two.lua", ("io.write '%s '"):format(folder))
    end
    scratch.write("here/only.lua", "io.write 'only '")
    scratch.write("run/three.lua", "dofile 'only.lua'")
    local status, output, errors = process.run({ "sh", "-c", ([[cd '%s'; exec "$0" "$@"]]):format(
      scratch.path("here")), require("luv").fs_realpath("roper"), "-e", ([[
      local preload = require "roper.options.load_option"
      preload.run "%s"
      preload.run "%s"
      io.write(preload.text())]]):format(scratch.path("run/one.lua"),
      scratch.path("run/three.lua")) })
    assert.equal(0, status, errors)
    local hash = " " .. ("%x"):rep(16)
    assert.matches("^run run only one.lua" .. hash .. ", three.lua" .. hash .. ", module two.lua"
      .. hash .. "\n?$", output)
  end)

  it("does not depend on the order of the files", function()
    local function text(first, second)
      return preload(("preload.run(%q) preload.run(%q) io.write(preload.text())"):format(
        scratch.write(first, "return '" .. first .. "'"),
        scratch.write(second, "return '" .. second .. "'")))
    end
    assert.equal(text("a.lua", "b.lua"), text("b.lua", "a.lua"))
  end)

  it("returns the arguments that run it again", function()
    scratch.write("a b.lua", "")
    assert.equal((" --load '%s'"):format(scratch.path("a b.lua")),
      (preload(("preload.run(%q) io.write(preload.words())"):format(scratch.path("a b.lua")))))
    assert.equal("nil", (preload("io.write(tostring(preload.text()), preload.words())")))
  end)

  it("prints a note about a file that registers nothing", function()
    local path = scratch.write("nothing.lua", "local x = 1 return x")
    local function notes(load)
      local status, _, errors = process.run({ "./roper", "runs", scratch.path(""), "--load", load })
      assert.equal(0, status, errors)
      return errors
    end
    assert.equal(("--load: %s registered no position scheme, task, experiment or model\n"):format(
      path), notes(path))
    for _, code in ipairs({ 'roper.position.register("n", {})', 'roper.nn.class "N"',
                            'roper.experiment.register("n", { task = "copy" })',
                            [[roper.tasks.register("n", { vocabulary = { "a" },
                              generate = function() return "a", "a" end })]] }) do
      assert.equal("", notes(scratch.write("something.lua", code)))
    end
  end)

  it("reports a file that is missing, invalid or fails", function()
    scratch.write("wrong.lua", "x = = 1")
    scratch.write("fails.lua", "error('on purpose')")
    for name, expected in pairs({ ["none.lua"] = "%-%-load: there is no file .*none.lua",
                                  ["wrong.lua"] = "%-%-load: .*wrong.lua:1: unexpected symbol",
                                  ["fails.lua"] = "fails.lua:1: on purpose" }) do
      local status, _, errors = process.run({ "./roper", "runs", "--load", scratch.path(name) })
      assert.equal(1, status)
      assert.truthy(errors:find(expected), errors)
    end
  end)
end)
