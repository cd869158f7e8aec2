-- Errors of files of tensors, as functions of the library report them.
local roper = require("roper")
local scratch = require("tests.scratch")

describe("a damaged file", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("is reported with its path alone, not with a place in the library", function()
    local task = roper.tasks.copy()
    local model = roper.nn.Linear({ inputs = 1, outputs = 1 })
    local path = scratch.write("model.safetensors", string.pack("<I8", 1000) .. "{}")
    scratch.write("config.json", scratch.read("tests/fixtures/published/gpt2/config.json"))
    local state = { model = model, optimizer = roper.optim.SGD(), task = task, config = {},
      steps = 1, step = 0, sum = 0, count = 0 }
    for name, f in pairs({
      load = function() roper.load(path) end,
      ["Module:load"] = function() model:load(path) end,
      load_training = function() roper.checkpoint.load_training(path, state) end,
      import = function() roper.import((path:gsub("/[^/]*$", ""))) end,
    }) do
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.matches("^load[%w_]*: ", message, name)
      assert.truthy(message:find(('"%s": expected the size of the header in the first 8 bytes, at '
        .. "most 2, got 1000; the file is truncated or not a safetensors file"):format(path), 1,
        true), message)
    end
  end)
end)
