-- Only the kernel for notebooks, which Jupyter reaches through sockets, may open any.
local files = require("roper.system.file")
local process = require("tests.process")
local scratch = require("tests.scratch")

local PROGRAM <const> = require("luv").fs_realpath("roper")

describe("./roper", function()
  -- Runs the program in the scratch folder, and returns the functions of sockets that it and its
  -- children called.
  local function sockets(arguments, input)
    local status, output, errors = process.run({ "sh", "-c", ("cd '%s' && %s %s"):format(
      scratch.path(""), PROGRAM, arguments) }, input, { SOCKETS = scratch.path("report"),
      LD_PRELOAD = scratch.path("sockets.so"), XDG_STATE_HOME = scratch.path("state") })
    assert.equal(0, status, output .. errors)
    return files.read(scratch.path("report")) or ""
  end

  setup(function()
    scratch.create()
    assert(os.execute(("cc -shared -fPIC -o '%s' tests/fixtures/sockets.c -ldl"):format(
      scratch.path("sockets.so"))))
  end)
  teardown(scratch.remove)
  before_each(function() os.remove(scratch.path("report")) end)

  it("opens no socket", function()
    for _, arguments in ipairs({
      "train copy preset=smoke letters=3 steps=1", "sample runs/copy-roper-1 'abc>'",
      "eval runs/copy-roper-1", "watch runs", "runs",
      "study copy preset=smoke letters=3 steps=1 --seeds 2 --folder sweep --jobs 2",
      "report sweep", "lesson rotation", "lesson rotation --html page",
      [[-e 'plot.line({1, 2}, {file = "line.png"})']], "--kernel 3 token 3</dev/null",
    }) do
      assert.equal("", sockets(arguments), arguments)
    end
    assert.equal("", sockets("", "print(roper.info())"))
  end)

  it("opens one if a script does", function()
    assert.equal("socket\nbind\n", sockets(
      [[-e 'require("luv").new_tcp():bind("127.0.0.1", 0)']]))
  end)
end)
