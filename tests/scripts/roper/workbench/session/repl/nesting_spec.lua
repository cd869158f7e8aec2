local nestings = require("roper.workbench.session.repl.nesting")

describe("the nesting of code", function()
  local function is_open(text)
    local nesting = nestings.new()
    for line in (text .. "\n"):gmatch("([^\n]*)\n") do
      nesting:add(line)
    end
    return nesting:is_open()
  end

  it("is open inside brackets, blocks, long strings and comments", function()
    for _, text in ipairs({ "f(", "t = {", "t[", "f({1, 2}", "function f()", "for i = 1, 2 do",
      "while x do if y then", "if x then y() else", "repeat", "do local x = 1", "s = [[",
      "s = [==[ ]] ",
      "--[[ end", "--[=[\n]]\n", "s = 'a' .. (", "f(\n  -- )\n", "f('\\')'",
      "function f() return [[end]]" }) do
      assert.is_true(is_open(text), text)
    end
  end)

  it("is closed at their ends, and otherwise", function()
    for _, text in ipairs({ "", "f()", "t = {\n1,\n}", "function f()\nend", "for i = 1, 2 do\nend",
      "if x then y() elseif z then w() else v() end", "repeat\nuntil x", "s = [[\n(]]",
      "--[[ (\n]]",
      "--[==[ do ]] ]==]", "-- do (", "'do ('", "\"\\\"(\"", "'\\\\' -- (", "ending, dont, ifs = 1",
      "t[1][[[x]]]",
      "goto_end = 1", "x = a - b", "'open (" }) do
      assert.is_false(is_open(text), text)
    end
  end)
end)
