-- Exports every position scheme, with its own rotation and with "qkvo", in three kinds of models,
-- combinations of schemes, all options of models and the published models of the fixtures, and
-- checks the modules in PyTorch.
--
--     lua5.4 tests/pytorch/table.lua [SCHEME]...
--
-- Prints, for float32 and for float64, the largest differences of logits, loss and gradients, and
-- the number of tokens that differ in completions. Exits with 1 if a module does not agree. PYTHON
-- is the Python to use.
package.path = "./?.lua;./?/init.lua;scripts/?.lua;scripts/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local files = require "roper.system.file"
local pytorch = require "tests.pytorch"
local roper = require "roper"
local temporary = require "roper.system.temporary"

local schemes, ok = arg[1] and arg or roper.position.list(), nil
temporary.with_folder(function(root)
  for _, scheme in ipairs(schemes) do
    for _, position in ipairs(pytorch.positions(scheme)) do
      for kind, options in pairs(pytorch.MODELS) do
        pytorch.export(("%s/%s %s"):format(root, position, kind), position, options)
      end
    end
  end
  for i, case in ipairs(arg[1] and {} or pytorch.OTHERS) do
    pytorch.export(("%s/other %d"):format(root, i), case[1], case[2] or {})
  end
  for _, family in ipairs(arg[1] and {} or files.names "tests/fixtures/published") do
    if files.exists(("tests/fixtures/published/%s/config.json"):format(family)) then
      roper.export_pytorch(roper.import("tests/fixtures/published/" .. family),
        ("%s/published %s"):format(root, family))
    end
  end
  ok = os.execute(("%s tests/pytorch/check.py '%s'"):format(pytorch.PYTHON, root))
end)
os.exit(ok or false)
