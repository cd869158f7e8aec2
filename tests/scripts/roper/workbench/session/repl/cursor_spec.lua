local cursor = require("roper.workbench.session.repl.cursor")

describe("cursor.at_end", function()
  it("distinguishes strings from code", function()
    for text, inside in pairs({
      ["f('a"] = "a", ['f("a'] = "a", ["x = 'it"] = "it", ['"a" .. "b'] = "b",
      ["'a\\'b"] = "a\\'b", ["--[[ ' ]] 'c"] = "c", ["[[ ' ]] .. 'd"] = "d", ["-- '\n'e"] = "e",
      ["'open\n'f"] = "f",
    }) do
      local place = cursor.at_end(text)
      assert.equal("string", place.kind, text)
      assert.equal(inside, place.text, text)
    end
    for _, text in ipairs({ "", "'a'", "f('a') ", "x[1]", "'a\\\\'", "[==[ ']] ]==]", "a - b" }) do
      assert.equal("code", cursor.at_end(text).kind, text)
    end
  end)

  it("recognizes comments and long brackets", function()
    for _, text in ipairs({ "-- a", "x = 1 --", "--[[ a", "--[==[ a ]]", "[[ a", "[==[ a ]]" }) do
      assert.equal("comment", cursor.at_end(text).kind, text)
    end
  end)

  it("finds the function that receives a table", function()
    for text, expected in pairs({
      ["f{"] = { "f", "" }, ["f{a"] = { "f", "a" }, ["a.b.c{x = 1, y"] = { "a.b.c", "x = 1, y" },
      ["f (q, k, { "] = { "f", " " }, ["f({"] = { "f", "" },
      ["o:m{a = 1; b"] = { "o:m", "a = 1; b" }, ["x = f(g{1}, {h(2), "] = { "f", "h(2), " },
      ["f{a = {1, 2},\n  b"] = { "f", "a = {1, 2},\n  b" },
    }) do
      local place = cursor.at_end(text)
      assert.equal("options", place.kind, text)
      assert.same(expected, { place.caller, place.table }, text)
    end
    for _, text in ipairs({ "{", "x = {a", "f{a = b", "f{a = ", "f(a, {b}", "f(a, {b + c",
      "(f){" }) do
      assert.equal("code", cursor.at_end(text).kind, text)
    end
  end)

  it("survives unbalanced brackets", function()
    for _, text in ipairs({ ")", "f(]", "}{", "f{)", "'", "\\", "--[[", "[=" }) do
      assert.is_string(cursor.at_end(text).kind)
    end
  end)
end)
