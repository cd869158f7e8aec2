local catalogue = require("roper.workbench.help.catalogue")
local roper = require("roper")
local tables = require("roper.base.tables")

describe("catalogue", function()
  it("finds public names by path and by value", function()
    assert.equal(roper.matmul, catalogue.entry("roper.matmul").value)
    assert.equal("roper.matmul", catalogue.of_value(roper.matmul).path)
    assert.equal("tensor:view", catalogue.of_value(roper.zeros({ 1 }).view).path)
    assert.equal("roper.sum", catalogue.entry("tensor:sum").same)
    assert.equal("roper.nn", catalogue.of_value(roper.nn).path)
    assert.is_nil(catalogue.of_value(print))
    assert.is_nil(catalogue.of_value(nil))
    assert.is_nil(catalogue.of_value(0 / 0))
  end)

  it("contains the classes of objects that the library returns", function()
    for _, name in ipairs({ "tensor", "rotary", "task", "Transformer", "Cache", "CacheLayer" }) do
      assert.equal("class", catalogue.entry(name).kind)
    end
    assert.is_nil(catalogue.entry("Session"))
    assert.equal("Linear", catalogue.class_of(roper.nn.Linear({ inputs = 1, outputs = 1 })).path)
    assert.is_nil(catalogue.class_of({}))
  end)

  it("lists the methods of a class and of its parents, each once", function()
    local seen = {}
    for _, entry in ipairs(catalogue.members(catalogue.entry("Linear"))) do
      local name = entry.path:match("[%w_]+$")
      assert.is_nil(seen[name])
      seen[name] = entry.path
    end
    assert.equal("Linear:forward", seen.forward)
    assert.equal("Module:count", seen.count)
  end)

  it("lists the options of a function, including inherited ones", function()
    local function names(value)
      local options = catalogue.options(catalogue.of_value(value))
      return table.concat(tables.map(options, function(option) return option.name end), " ")
    end
    assert.equal("step tolerance limit", names(roper.gradcheck))
    assert.equal("ignore reduction", names(roper.cross_entropy))
    assert.equal("dim base pairing fraction value_fraction rotate last frequencies coordinates "
      .. "magnitude growth centre", names(roper.position.none))
    assert.equal("", names(roper.matmul))
  end)
end)
