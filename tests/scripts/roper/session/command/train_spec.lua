local files = require("roper.base.file")
local process = require("tests.process")
local scratch = require("tests.scratch")
local sweeps = require("tests.sweeps")
local uv = require("luv")

describe("./roper train", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- Train small runs at once, in the working directory of their own that `runs` is made in.
  local function train(count, ...)
    local words = { uv.fs_realpath("roper"), "train", "substring_index", ... }
    for name, value in pairs(sweeps.fields()) do
      words[#words + 1] = name .. "=" .. value
    end
    return process.run({ "sh", "-c", ('cd %s; for i in $(seq %d); do "$@" & all="$all $!"; done; '
      .. "for id in $all; do wait $id || exit; done"):format(scratch.path("."), count), "sh",
      table.unpack(words) })
  end

  it("leaves no folder of what it refuses before it begins", function()
    local status, _, errors = process.run({ "sh", "-c", ("cd %s && '%s' train language_model "
      .. "files=none"):format(scratch.path("."), uv.fs_realpath("roper")) })
    assert.same({ 1, "roper: text: no file or folder none\n" }, { status, errors })
    assert.same({}, files.names(scratch.path("runs")))
  end)

  it("gives each of several at once a folder, named by what is trained", function()
    local status, output, errors = train(3, "seed=3")
    assert.equal(0, status, errors)
    local names = { "substring_index-roper-3", "substring_index-roper-3-2",
                    "substring_index-roper-3-3" }
    assert.same(names, files.names(scratch.path("runs")))
    for _, name in ipairs(names) do
      assert.truthy(output:find(", in runs/" .. name .. "\n", 1, true), output)
      assert.equal(3, files.decode(scratch.path("runs/" .. name .. "/result.json")).config.seed)
    end
  end)
end)
