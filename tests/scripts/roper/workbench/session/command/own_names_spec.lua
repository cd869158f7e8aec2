-- Names that files of --load register, in the shell.

local files = require("roper.base.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local uv = require("luv")

local function run(...)
  local program = uv.cwd() .. "/roper"
  local words = { "sh", "-c", 'cd "$1" && shift && exec "$0" "$@"', program, scratch.path(""), ... }
  local status, output, errors = process.run(words, nil, { OMP_NUM_THREADS = "1" })
  return { status = status, output = output, errors = errors }
end

local TASK <const> = [[
roper.tasks.register("echo", {
  options = {{"letters", {smallest = 1, largest = 50}, 3, "in a problem"}},
  vocabulary = {"a", "b", ">"},
  generate = function(options, random)
    local text = ""
    for _ = 1, options.letters do
      text = text .. random:choice{"a", "b"}
    end
    return text .. ">", text
  end,
  longer = {"letters", "length"},
})
]]

describe("a loaded file", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("grades samples by a function that needs no answer", function()
    files.write(scratch.path("graded.lua"), (TASK:gsub("longer = ", "grade = function(question, "
      .. 'text)\n    return question == "ab>" or text == question:sub(1, -2)\n  end,\n  %0')))
    local trained = run("train", "echo", "preset=smoke", "steps=1", "--load", "graded.lua")
    assert.equal(0, trained.status, trained.errors)
    for question, verdict in pairs({ ["ab>"] = "right", ["bbbb>"] = "wrong" }) do
      local result = run("sample", "runs/echo-roper-1", question, "--tokens", "1", "--load",
        "graded.lua")
      assert.truthy(result.output:find("\n" .. verdict .. "\n$"), result.output .. result.errors)
    end
  end)

  it("is named by an error before anything is trained", function()
    local bad = {
      ["error('on purpose')"] = "bad.lua:1: on purpose",
      [TASK:gsub('"echo"', '"copy"')] = "bad.lua: tasks.register: copy is a built-in task",
      [TASK .. 'roper.experiment.register("copy", {task = "echo"})'] =
        "bad.lua: experiment.register: copy is a built-in experiment",
      [TASK:gsub('text .. ">"', 'text .. "?"')] =
        "task echo (bad.lua): generate: problem 0: the question: expected tokens of the vocabulary",
      [TASK:gsub('return text .. ">", text', 'return text .. ">", text:rep(99)')] =
        "task echo (bad.lua): generate: problem 0: expected at most length = 129 tokens",
      [TASK:gsub("random:choice{", "({\"a\", \"b\"})[math.random(2)] -- {")] =
        "task echo (bad.lua): generate: expected the same problem for the same seed",
      [TASK:gsub("local text = .-\n", "local text = nil .. 1\n")] =
        "task echo (bad.lua): generate raised an error (bad.lua:5): attempt to concatenate a nil",
    }
    for code, expected in pairs(bad) do
      files.write(scratch.path("bad.lua"), code)
      for _, words in ipairs({ { "train", "echo", "preset=smoke" },
                               { "sweep", "echo", "preset=smoke", "seed=1,2" } }) do
        words[#words + 1], words[#words + 2] = "--load", "bad.lua"
        local result = run(table.unpack(words))
        assert.equal(1, result.status)
        assert.truthy(result.errors:find(expected, 1, true), result.errors)
        assert.same({ "bad.lua" }, scratch.list())
      end
    end
  end)

  it("cannot register a name that another one has registered", function()
    for kind, code in pairs({ ["task echo"] = TASK,
                              ["experiment short"] = 'roper.experiment.register("short", '
                                .. '{ task = "copy" })',
                              ["position scheme flat"] = 'roper.position.register("flat", {})' }) do
      files.write(scratch.path("one.lua"), code)
      files.write(scratch.path("two.lua"), code)
      local result = run("train", "copy", "preset=smoke", "--load", "one.lua", "--load", "two.lua")
      assert.equal(1, result.status)
      assert.truthy(result.errors:find(("two.lua: the %s is already registered, by one.lua; choose "
        .. "another name"):format(kind), 1, true), result.errors)
    end
  end)

  it("with a task for which a trial is invalid makes a sweep refuse it", function()
    files.write(scratch.path("one.lua"), TASK)
    local result = run("sweep", "echo", "preset=smoke", "steps=2", "letters=3,40", "length=60",
      "--load", "one.lua")
    assert.equal(1, result.status)
    assert.truthy(result.errors:find("the trials of roper letters=40 cannot run; none was started: "
      .. "task echo (", 1, true), result.errors)
    assert.truthy(result.errors:find("expected at most length = 60 tokens, got 81", 1, true))
    assert.equal("", result.output)
  end)

  it("gives the same bits to a run that was resumed", function()
    files.write(scratch.path("one.lua"), TASK)
    local function train(...)
      local result = run("train", ...)
      assert.equal(0, result.status, result.errors)
    end
    train("echo", "preset=smoke", "steps=12", "--load", "one.lua")
    train("echo", "preset=smoke", "steps=7", "--load", "one.lua")
    train("--resume", "runs/echo-roper-1-2", "steps=12", "--load", "one.lua")
    local name = "/checkpoint.safetensors"
    assert.equal(scratch.read(scratch.path("runs/echo-roper-1" .. name)),
      scratch.read(scratch.path("runs/echo-roper-1-2" .. name)))
    local result = run("train", "--resume", "runs/echo-roper-1-2", "steps=14")
    assert.equal(1, result.status)
    assert.truthy(result.errors:find("needs the experiment echo: register it first", 1, true))
    result = run("runs", "--load", "one.lua")
    assert.truthy(result.output:find("runs/echo-roper-1-2", 1, true))
  end)

  it("that gives other problems in another process cannot resume a run", function()
    files.write(scratch.path("one.lua"), (TASK:gsub("random:choice%b{}",
      '(os.getenv "ECHO" or %0)')))
    local result = run("train", "echo", "preset=smoke", "--load", "one.lua")
    assert.equal(0, result.status, result.errors)
    uv.os_setenv("ECHO", "a")
    result = run("train", "--resume", "runs/echo-roper-1", "steps=22", "--load", "one.lua")
    uv.os_unsetenv("ECHO")
    assert.equal(1, result.status)
    assert.truthy(result.errors:find("has another configuration: hash is %x+ in the file, %x+ in "
      .. "this run"), result.errors)
    assert.equal(0, run("train", "--resume", "runs/echo-roper-1", "steps=22", "--load",
      "one.lua").status)
  end)

  it("reaches the commands that are printed", function()
    files.write(scratch.path("one.lua"), TASK)
    local result = run("sweep", "echo", "preset=smoke", "steps=2", "--load", "one.lua")
    assert.equal(0, result.status, result.errors)
    assert.truthy(result.output:find("roper report runs/echo --load " .. scratch.path("one.lua"), 1,
      true), result.output)
    files.remove(scratch.path("runs/echo"))
    result = run("train", "echo", "--dry-run", "--load", "one.lua")
    assert.truthy(result.output:find("^echo: a task of your own\n"), result.errors)
    assert.truthy(result.output:find("parameters;", 1, true), result.errors)
    assert.truthy(run("train", "--help", "--load", "one.lua").output:find("copy, echo,", 1, true))
    assert.equal("echo\n", run("--complete", "roper train --load one.lua ec").output)
    assert.equal("letters=\n", run("--complete", "roper sweep echo --load one.lua let").output)
    assert.equal("", run("--complete", "roper sweep echo --load ").output)
    assert.equal("", run("--complete", "roper train ec").output)
  end)
end)
