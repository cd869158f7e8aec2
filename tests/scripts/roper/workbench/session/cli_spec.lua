local files = require("roper.base.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

describe("./roper", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- Runs it, and returns its exit status and output.
  local function roper(...)
    local status, output, errors = process.run({ "./roper", ... })
    return { status = status, output = output, errors = errors }
  end

  local function piped(input, ...)
    local status, output, errors = process.run({ "./roper", ... }, input)
    return { status = status, output = output, errors = errors }
  end

  local function done(output)
    return { status = 0, output = output, errors = "" }
  end

  local function failed(status, errors, output)
    return { status = status, output = output or "", errors = errors }
  end

  describe("FILE", function()
    it("runs with the library, its name and its arguments", function()
      local path = scratch.write("script.lua", "#!/usr/bin/env roper\n"
        .. "print(roper.zeros{2}:sum():item(), plot ~= nil, arg[0], arg[2], ...)")
      assert.same(done("0.0\ttrue\t" .. path .. "\t-x\ta\t-x\n"), roper(path, "a", "-x"))
    end)

    it("reports errors with the frames of the script", function()
      local path = scratch.write("wrong.lua",
        "local function f()\n  roper.zeros { 2, 3 }:matmul(7)\nend\nio.write('before ')\nf()\n")
      local result = roper(path)
      assert.equal(1, result.status)
      assert.equal("before ", result.output)
      assert.equal(path .. ":2: ", result.errors:match("^roper: (%S+ )"))
      assert.equal(("\n→ %s:2 in f: roper.zeros { 2, 3 }:matmul(7)\n  %s:5: f()\n"):format(path,
        path), result.errors:match("\n.*$"))
    end)

    it("reports syntax errors and unreadable files", function()
      local path = scratch.write("syntax.lua", "x = = 1")
      local reason = ("roper: %s:1: unexpected symbol near '='\n"):format(path)
      assert.same(failed(1, reason), roper(path))
      assert.same(failed(1, "roper: cannot read /tmp: Is a directory\n"), roper("/tmp"))
    end)

    it("can exit with its own status", function()
      assert.same({ status = 7, output = "", errors = "" },
        roper(scratch.write("leave.lua", "os.exit(7)")))
    end)

    it("ends with 130 after Ctrl-C", function()
      local path = scratch.write("loop.lua", "print('ready') while true do end")
      local screen = process.open("./roper " .. path)
      screen:expect("ready\n")
      screen:type("\3")
      screen:expect("roper: interrupted\n")
      assert.equal(130, screen:leave())
    end)
  end)

  describe("-", function()
    it("runs standard input, like no argument", function()
      assert.same(done("-\tx\n"), piped("print(arg[0], ...)\n", "-", "x"))
      assert.same(done("0.0\n"), piped("print(roper.zeros{2}:sum():item())"))
      assert.same(done(""), piped(""))
      assert.same(failed(1, "roper: stdin:2: no\n", "1\n"), piped("print(1)\nerror('no')"))
    end)
  end)

  describe("-e", function()
    it("prints the values of an expression", function()
      assert.same(done("2\n"), roper("-e", "1 + 1"))
      assert.same(done("int32 [2]\n1 2\n"), roper("-e", "roper.tensor({ 1, 2 }, 'int32')"))
      assert.same(done(""), roper("-e", "x = 1"))
      assert.same(done("-1\n"), roper("-e", "-1"))
    end)

    it("reports the errors of the code", function()
      assert.same(failed(1, "roper: -e:1: boom\n"), roper("-e", "error('boom')"))
      assert.same(failed(1, "roper: -e:1: unexpected symbol near '='\n"), roper("-e", "x = = 1"))
      local reason = 'roper: -e:1: roper has no field "zeroes"; did you mean "zeros"?\n'
      assert.same(failed(1, reason), roper("-e", "roper.zeroes { 2 }"))
    end)

    it("takes one argument", function()
      local reason = "roper: -e takes one argument: the code\nTry roper --help.\n"
      assert.same(failed(2, reason), roper("-e"))
      assert.same(failed(2, reason), roper("-e", "1", "2"))
    end)
  end)

  it("fails if standard output is full", function()
    local loop = "-e 'for i = 1, 1e5 do print(i) end'"
    for _, words in ipairs { "--version", loop, "lesson" } do
      local status, _, errors = process.run({ "sh", "-c", "./roper " .. words .. " >/dev/full" })
      assert.equal(1, status, words)
      assert.equal("roper: cannot write all of standard output\n", errors, words)
    end
  end)

  it("works without a standard stream, and fails only if it cannot write its output", function()
    local full = "roper: cannot write all of standard output\n"
    for closed, expected in pairs({
      ["<&-"] = { 0, "2\n", "" },
      ["2>&-"] = { 0, "2\n", "" },
      ["<&- 2>&-"] = { 0, "2\n", "" },
      [">&-"] = { 1, "", full },
      ["<&- >&-"] = { 1, "", full },
      ["<&- >&- 2>&-"] = { 1, "", "" },
    }) do
      local result = { process.run({ "sh", "-c", "exec ./roper -e 1+1 " .. closed }) }
      assert.same(expected, result, closed)
    end
  end)

  describe("options", function()
    it("print the version", function()
      assert.same(done("roper " .. require("roper").version .. "\n"), roper("--version"))
    end)

    it("print help within 80 columns", function()
      for _, words in ipairs({ { "-h" }, { "--help" }, { "train", "-h" }, { "study", "-h" },
                             { "sweep", "-h" }, { "runs", "-h" }, { "eval", "-h" },
                             { "sample", "-h" } }) do
        local result = roper(table.unpack(words))
        assert.equal(0, result.status)
        assert.equal("", result.errors)
        assert.truthy(result.output:find("^Usage: roper"))
        for line in result.output:gmatch("[^\n]+") do
          assert.is_true(#line <= 80, line)
        end
      end
    end)
  end)

  it("prints the help of a command for help NAME", function()
    assert.same(roper("eval", "--help"), roper("help", "eval"))
    assert.same(roper("--help"), roper("help"))
    assert.same(failed(2, "roper: 'evl' is not a command, an option or a file; "
      .. 'did you mean "eval"?\nTry roper --help.\n'), roper("help", "evl"))
  end)

  describe("train", function()
    it("prints the configuration and its cost for --dry-run", function()
      local result = roper("train", "substring_index", "position=rope", "seed=7", "preset=smoke",
                           "--dry-run")
      assert.equal(0, result.status)
      assert.matches("\n  preset +smoke +[^\n]*:%s+comparison,%s+mini,%s+paper,%s+smoke\n",
        result.output)
      assert.matches("\n  position +rope +scheme", result.output)
      assert.matches("\n  seed +7 +%l", result.output)
      assert.truthy(result.output:find("\n15693 parameters;\nabout %d MiB of tensors, %d+ MiB "
        .. "with those not yet garbage%-collected;\nabout %d+ ms a step with %d+ threads, "
        .. "<?%w+ for 20 steps\n$"), result.output)
      for line in result.output:gmatch("[^\n]+") do
        assert.is_true(utf8.len(line) <= 80, line)
      end
    end)

    it("resumes by the command that Ctrl-C prints, and only with its own fields", function()
      local here, folder = uv.cwd(), scratch.path("train")
      uv.fs_mkdir(folder, 493)
      local function interrupted(line)
        local screen = process.open(("cd '%s' && %s"):format(folder, line))
        screen:expect("/100000")
        screen:type("\3")
        screen:expect("runs/substring_index-rope-5 stopped at step ")
        local step = math.tointeger(tonumber(screen:expect(". To resume:\n")))
        local again = screen:expect("\nroper: interrupted\n")
        assert.equal(130, screen:leave())
        assert.equal(here .. "/roper train --resume runs/substring_index-rope-5", again)
        return step, again
      end
      local step, again = interrupted(here .. "/roper train substring_index preset=smoke seed=5 "
        .. "position=rope steps=100000 dropout=0.25 rate=0.00031")
      local later = interrupted(again)
      assert.is_true(step >= 0 and later >= step)
      local function resume(words)
        local status, output, errors = process.run({ "sh", "-c", ("cd '%s' && %s %s"):format(folder,
          again, words) })
        return { status = status, output = output, errors = errors }
      end
      local path = folder .. "/runs/substring_index-rope-5/config.json"
      local before = scratch.read(path)
      for words, reason in pairs({
        ["addition"] = "runs/substring_index-rope-5 is a run of substring_index, not of addition",
        ["dropout=0.5"] = "has another configuration: dropout is 0.25 in the file, 0.5 in this run",
        ["substring_index seed=6 base=5"] =
          "another configuration: base is 10000 in the file, 5 in this run; seed is 5 in the file, "
          .. "6 in this run",
      }) do
        local result = resume(words)
        assert.equal(1, result.status)
        assert.truthy(result.errors:find(reason, 1, true), result.errors)
      end
      assert.equal(2, resume("setps=5").status)
      assert.equal(before, scratch.read(path))
      local listed = roper("runs", folder)
      assert.truthy(listed.output:find(("  stopped  %d/100000 "):format(later), 1, true),
        listed.output)
      assert.truthy(listed.output:find(("\n\nResume with:\n./roper train --resume "
        .. "%s/runs/substring_index-rope-5\n"):format(folder), 1, true), listed.output)
      local result = resume(("steps=%d"):format(later + 2))
      assert.equal(0, result.status, result.errors)
      assert.truthy(result.output:find("in runs/substring_index%-rope%-5\n$"), result.output)
      assert.truthy(roper("runs", folder).output:find("finished", 1, true))
    end)

    it("does not resume a folder that is not a run of an experiment", function()
      local folder = scratch.path("none")
      local function refuses(reason)
        local result = roper("train", "--resume", folder)
        assert.equal(1, result.status)
        assert.truthy(result.errors:find(reason, 1, true), result.errors)
      end
      refuses("runs: there is no folder " .. folder)
      uv.fs_mkdir(folder, 493)
      refuses("none, found no config.json of one")
      scratch.write("none/config.json", '{"config": {"batch": 3}}')
      refuses("expected the run of an experiment")
    end)

    it("rejects unknown names, and suggests the nearest", function()
      local function refuses(reason, ...)
        local result = roper(...)
        assert.equal(2, result.status)
        assert.equal("", result.output)
        assert.truthy(result.errors:find(reason, 1, true), result.errors)
        assert.truthy(result.errors:find("\nTry roper train --help.\n", 1, true))
      end
      refuses("missing argument 'experiment'", "train")
      refuses('did you mean "substring_index"?', "train", "substring_indx")
      refuses('did you mean "position"?', "train", "substring_index", "positon=rope")
      refuses("expected field=value, got 'rope'", "train", "substring_index", "rope")
      refuses("field 'seed' is given twice", "train", "substring_index", "seed=1", "seed=2")
      refuses("unknown option '--resum'", "train", "substring_index", "--resum", "x")
    end)
  end)

  it("rejects a word that is not a command, an option or a file", function()
    assert.same(failed(2, "roper: 'trian' is not a command, an option or a file; "
      .. "did you mean \"train\"?\nTry roper --help.\n"), roper("trian"))
    assert.same(failed(2, "roper: '--verison' is not a command, an option or a file; "
      .. "did you mean \"--version\"?\nTry roper --help.\n"), roper("--verison"))
    assert.same(failed(2, "roper: 'none.lua' is not a command, an option or a file\n"
      .. "Try roper --help.\n"), roper("none.lua"))
  end)

  it("reports why a file cannot be run", function()
    local path = scratch.path("seen by nobody.lua")
    assert(uv.fs_symlink(path, path))
    local found = roper(path)
    assert.equal(1, found.status)
    assert.truthy(found.errors:find("cannot open " .. path, 1, true), found.errors)
  end)

  it("ends silently after a broken pipe", function()
    local status, output, errors = process.run({ "sh", "-c",
      "./roper -e 'for i = 1, 1e9 do print(i) end' | head -n 1" })
    assert.same({ 0, "1\n", "" }, { status, output, errors })
  end)

  it("runs from elsewhere, through a symbolic link", function()
    local link = scratch.path("link")
    assert(uv.fs_symlink(uv.fs_realpath("roper"), link))
    local status, output = process.run({ "sh", "-c", "cd / && " .. link .. " -e '6 * 7'" })
    assert.equal(0, status)
    assert.equal("42\n", output)
  end)

  it("loads modules from the folder of a script, after those of the library", function()
    local beside = scratch.path("beside")
    files.make(beside)
    scratch.write("beside/own.lua", "return { answer = 42 }")
    scratch.write("beside/roper.lua", "error('not this')")
    scratch.write("beside/script.lua", "print(require('own').answer, require('roper').ones { 1 })")
    for _, arguments in ipairs({ { beside .. "/script.lua" },
                                 { "runs", beside, "--load", beside .. "/script.lua" } }) do
      local status, output = process.run({ "./roper", table.unpack(arguments) })
      assert.equal(0, status)
      assert.truthy(output:find("42\tfloat32 [1]\n1\n", 1, true), output)
    end
    scratch.write("trials.lua", "return { (require('own_trial')) }")
    scratch.write("own_trial.lua", "return { experiment = 'copy', preset = 'smoke', steps = 1, "
      .. "letters = 3 }")
    assert.equal(0, (process.run({ "./roper", "sweep", scratch.path("trials.lua"), "--folder",
      scratch.path("sweep"), "--jobs", "1" })))
  end)

  it("has a library that a stock interpreter can load", function()
    local status, output = process.run({ "lua5.4", "-e",
      "roper = require 'roper' print(roper.ones { 2 })" }, nil,
      { LUA_PATH = "scripts/?.lua;scripts/?/init.lua;;", LUA_CPATH = "build/?.so;;" })
    assert.equal(0, status)
    assert.equal("float32 [2]\n1 1\n", output)
  end)

  it("is found by the workers of a stock interpreter with a relative path", function()
    local code = ([[roper = require 'roper'
      local sweep = roper.sweep.run { what = "copy", folder = %q, jobs = 1, stream = io.tmpfile(),
        fields = { preset = "smoke", letters = 3, steps = 1, position = "rope" } }
      print(sweep.trials[1].run.status)]]):format(scratch.path("sweep"))
    local status, output, errors = process.run({ "lua5.4", "-e", code }, nil,
      { LUA_PATH = "scripts/?.lua;scripts/?/init.lua;;", LUA_CPATH = "build/?.so;;",
        LUA_PATH_5_4 = false, LUA_CPATH_5_4 = false })
    assert.same({ 0, "finished\n", "" }, { status, output, errors })
  end)
end)
