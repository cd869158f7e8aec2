local failure = require("roper.failure")
local process = require("tests.process")
local scratch = require("tests.scratch")

describe("failure.without_place", function()
  local library = debug.getinfo(failure.of, "S").source:match("^@(.*/)")

  it("leaves out where in the library a message comes from", function()
    assert.equal("boom", failure.without_place(library .. "nn/layers.lua:7: boom"))
    assert.equal("a\nb", failure.without_place(library .. "run.lua:7: a\nb"))
    assert.equal("boom", failure.without_place("..." .. library:sub(-8) .. "run.lua:7: boom"))
  end)

  it("keeps every other message as it is", function()
    for _, message in ipairs({ "boom", "", "x.lua:1: boom", "roper/x.lua:1: boom",
      "/other/roper/x.lua:1: boom", ".../other/roper/x.lua:1: boom", "boom at\n" .. library
      .. "run.lua:7: x" }) do
      assert.equal(message, failure.without_place(message))
    end
  end)
end)

describe("an installed roper", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("tells the place in the user's code, not its own", function()
    local folder = scratch.path("a folder with spaces and a name so long that Lua cuts the path")
    local made = process.run({ "sh", "-c", "mkdir -p \"$1/bin\" \"$1/share/lua/5.4\" "
      .. "\"$1/lib/lua/5.4/roper\" && cp roper \"$1/bin\" && cp -r scripts/roper "
      .. "\"$1/share/lua/5.4\" && cp build/roper/native.so \"$1/lib/lua/5.4/roper\"", "sh",
      folder })
    assert.equal(0, made)
    local _, _, errors = process.run({ folder .. "/bin/roper", "-e", "roper.load 'nowhere.npy'" })
    assert.equal('roper: -e:1: load: cannot read "nowhere.npy": No such file or directory\n',
      errors)
  end)
end)
