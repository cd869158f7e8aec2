local html = require("tests.html")
local markup = require("roper.text.markup")
local mathml = require("roper.text.formula.mathml")
local parse = require("roper.text.formula.parse")
local terminal = require("roper.text.formula.terminal")

describe("formula.parse", function()
  it("tells what it expected, and where", function()
    for formula, message in pairs {
      ["a_"] = "expected a letter, a number or a group {...} after '_', found the end at column 3",
      ["a^)"] = "expected a letter, a number or a group {...} after '^', found ')' at column 3",
      ["θ √"] = "expected a letter, a number or a group {...} after '√', found the end at column 4",
      ["{a"] = "expected '}' to close the '{' at column 1, found the end at column 3",
      ["Σ_i (a]"] = "expected ')' to close the '(' at column 5, found ']' at column 7",
      ["[1, 2; 3"] = "expected 2 cells in row 2 of the matrix, not 1, found the end at column 9",
      ["[1; 2"] = "expected ']' to close the '[' at column 1, found the end at column 6",
      ["x |a + b"] = "expected '|' to close the '|' at column 3, found the end at column 9",
      ["[a}]"] = "expected ']' to close the '[' at column 1, found '}' at column 3",
      ["a }"] = "expected an opening bracket before this one, found '}' at column 3",
      ["x_1_2"] = "expected one index, found '_' at column 4",
      ["x²^3"] = "expected one power, found '^' at column 3",
      ["^2"] = "expected a letter or a group before the index or power, found '^' at column 1",
      ["ô_n ₂"] = "expected one index, found '2' at column 5",
      ["a &= b & c"] = "expected & outside of groups, once in a line, found '&' at column 8",
      ["(a & b)"] = "expected & outside of groups, once in a line, found '&' at column 4",
      ["θ \\theta"] = "expected a sign of the notation for formulas, found '\\' at column 3",
      ['a = "b'] = 'expected a closing " after the one at column 5',
      ["\xFF"] = "expected UTF-8 text",
    } do
      local ok, told = pcall(parse.lines, formula)
      assert.is_false(ok, formula)
      assert.truthy(told:find(message, 1, true), told)
      assert.truthy(told:find(formula, 1, true), told)
    end
  end)

  it("reads any text, which then can be shown, or tells an error of its own", function()
    local shown = 0
    local signs = { "a", "θ", "12", "cos", "_", "^", "{", "}", "(", ")", "[", "]", ";", ",", "|",
      "/", "&", "√", "Σ", "'", "²", "ₙ", "+", "=", " ", "\n", "\u{302}", "\"" }
    for seed = 1, 2000 do
      local parts, state = {}, seed
      for i = 1, seed % 12 do
        state = (state * 1103515245 + 12345) % 2147483648
        parts[i] = signs[(state >> 8) % #signs + 1]
      end
      local formula = table.concat(parts)
      local ok, told = pcall(parse.lines, formula)
      assert.is_true(ok or told:find("^expected ") ~= nil, formula .. ": " .. tostring(told))
      if ok then
        shown = shown + 1
        html.check(markup.render { mathml.line(formula), mathml.display(formula) })
        assert.truthy(utf8.len(terminal.line(formula) .. terminal.display(formula)))
      end
    end
    assert.is_true(shown > 300, shown)
  end)
end)
