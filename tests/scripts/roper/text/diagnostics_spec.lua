local diagnostics = require("roper.text.diagnostics")
local process = require("tests.process")
local scratch = require("tests.scratch")

describe("failure.without_place", function()
  local library = debug.getinfo(diagnostics.of, "S").source:match("^@(.*/)text/")

  it("removes positions in the library from a message", function()
    assert.equal("boom", diagnostics.without_place(library .. "nn/layers.lua:7: boom"))
    assert.equal("a\nb", diagnostics.without_place(library .. "run.lua:7: a\nb"))
    assert.equal("boom", diagnostics.without_place("..." .. library:sub(-8) .. "run.lua:7: boom"))
  end)

  it("keeps every other message unchanged", function()
    for _, message in ipairs({ "boom", "", "x.lua:1: boom", "roper/x.lua:1: boom",
      "/other/roper/x.lua:1: boom", ".../other/roper/x.lua:1: boom", "boom at\n" .. library
      .. "run.lua:7: x" }) do
      assert.equal(message, diagnostics.without_place(message))
    end
  end)
end)

describe("roper in any folder", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- The error message of a mistake if the program and the library were copied to these folders.
  local function error_in(program, library, native)
    local made = process.run({ "sh", "-c", [[mkdir -p "$1" "$2" "$3" && cp roper "$1" &&
      cp -r scripts/roper "$2" && cp build/roper/native.so "$3"]], "sh", program, library, native })
    assert.equal(0, made)
    local code = "x = roper.ones { 1, 1, 2, 2 }  y = roper.attention(x, x, x, {})  y:summ()"
    return select(3, process.run({ program .. "/roper", "-e", code }))
  end

  it("reports the position in the user's code, not in the library", function()
    local message = 'roper: -e:1: a tensor has no field "summ"; did you mean "sum"?\n'
    local checkout = scratch.path("roper")
    assert.equal(message, error_in(checkout, checkout .. "/scripts", checkout .. "/build/roper"))
    local installed = scratch.path("a folder with spaces and a name so long that Lua cuts the path")
    assert.equal(message, error_in(installed .. "/bin", installed .. "/share/lua/5.4",
      installed .. "/lib/lua/5.4/roper"))
  end)
end)
