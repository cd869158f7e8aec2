local core = require("roper.core")
local process = require("tests.process")

describe("terminal_size", function()
  it("is nil without a terminal", function()
    local _, output = process.run({ "./roper", "-e", "require[[roper.core]].terminal_size(1)" })
    assert.equal("nil\n", output)
    assert.is_nil(core.terminal_size(1000))
  end)

  it("is columns and rows; 80 and 24 if the terminal does not report them", function()
    local screen = process.open("./roper -e 'require[[roper.core]].terminal_size(1)';"
      .. " stty cols 33 rows 7; ./roper -e 'require[[roper.core]].terminal_size(1)'")
    screen:expect("80\t24\n33\t7\n")
    assert.equal(0, screen:leave())
  end)

  it("rejects invalid descriptors", function()
    assert.error_matches(function() core.terminal_size(-1) end, "descriptor")
    assert.error_matches(function() core.terminal_size("x") end, "descriptor")
  end)
end)
