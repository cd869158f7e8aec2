local core = require("roper.core")
local process = require("tests.process")

describe("terminal_columns", function()
  it("is nil where there is no terminal", function()
    local _, output = process.run({ "./roper", "-e", "require[[roper.core]].terminal_columns(1)" })
    assert.equal("nil\n", output)
    assert.is_nil(core.terminal_columns(1000))
  end)

  it("is the width, 80 where the terminal does not tell", function()
    local screen = process.open("./roper -e 'require[[roper.core]].terminal_columns(1)';"
      .. " stty cols 33; ./roper -e 'require[[roper.core]].terminal_columns(1)'")
    screen:expect("80\n33\n")
    assert.equal(0, screen:leave())
  end)

  it("refuses what is no descriptor", function()
    assert.error_matches(function() core.terminal_columns(-1) end, "descriptor")
    assert.error_matches(function() core.terminal_columns("x") end, "descriptor")
  end)
end)
