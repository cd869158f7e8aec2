-- Regular expressions of PCRE2 for tokenizers: results, and what hostile patterns and texts may do.

local core = require("roper.core")
local it = core.pattern and it or function(name) -- luacheck: ignore it
  pending(name .. ": roper was built without PCRE2")
end

describe("pattern", function()
  local function parts(pattern, text)
    return core.pattern(pattern):split(text)
  end

  local function fails(message, f, ...)
    local arguments = table.pack(...)
    assert.error_matches(function() f(table.unpack(arguments)) end, message)
  end

  it("alternates the text before a match and the match", function()
    assert.same({ "", "ab", ", ", "cdé", " 1" }, parts("\\p{L}+", "ab, cdé 1"))
    assert.same({ "" }, parts("a", ""))
    assert.same({ "b" }, parts("a", "b"))
    assert.same({ "", "a", "", "a", "" }, parts("a", "aa"))
    assert.same({ "a\0", "b", "\0" }, parts("b", "a\0b\0"))
  end)

  it("leaves out empty matches, also between characters of several bytes", function()
    assert.same({ "éü" }, parts("x*", "éü"))
    assert.same({ "é", "xx", "ü", "x", "" }, parts("x*", "éxxüx"))
    assert.same({ "aéa" }, parts("(?=é)", "aéa"))
  end)

  it("looks behind matches", function()
    assert.same({ "ab", "b", "" }, parts("(?<=b)b", "abb"))
    assert.same({ "", "a", "", "b", "b" }, parts("(?<!b)[ab]", "abb"))
  end)

  it("refuses what is no regular expression, with the place", function()
    fails("pattern: missing closing parenthesis at byte 3", core.pattern, "a(")
    fails("pattern: .* at byte", core.pattern, "a\xff")
    fails("pattern: expected at most 65536 bytes, got 65537", core.pattern, ("a"):rep(65537))
    fails("pattern: .*parentheses are too deeply nested", core.pattern,
      ("("):rep(5000) .. (")"):rep(5000))
    fails("pattern: .*using \\C is disabled", core.pattern, "\\C")
    fails("string expected", core.pattern, 5)
    fails("expected at most 1 argument", core.pattern, "a", "b")
  end)

  it("refuses text that is not UTF-8, with the byte", function()
    local pattern = core.pattern("b")
    for text, place in pairs({ ["a\xff"] = "255 at byte 2", ["\xc3"] = "195 at byte 1",
      ["a\xed\xa0\x80"] = "237 at byte 2", ["b\xf8"] = "248 at byte 2" }) do
      fails("pattern:split: expected text in UTF%-8, got the byte " .. place, pattern.split,
        pattern, text)
    end
    assert.same({ "", "b", "" }, pattern:split("b"))
  end)

  it("ends matches that would take too long or too much memory", function()
    for pattern, text in pairs({
      ["(a+)+$"] = ("a"):rep(40) .. "!",
      ["(?:a|aa)+$"] = ("a"):rep(200) .. "!",
      ["^(?:(?:x|y)+)+z$"] = ("xy"):rep(60) .. "zz!",
      ["(?:.|\n)*?q(?:.|\n)*?q[!?]"] = ("q"):rep(3000),
    }) do
      local ok, message = pcall(parts, pattern, text)
      assert.is_false(ok, pattern)
      assert.matches("pattern:split: .*limit exceeded", message)
    end
  end)

  it("matches long texts by patterns that need a stack", function()
    local text = ("ab"):rep(20000)
    assert.same({ "", text, "" }, parts("(?:a|b)+", text))
  end)

  it("is not used after it was closed", function()
    local pattern = core.pattern("a")
    getmetatable(pattern).__close(pattern)
    getmetatable(pattern).__close(pattern)
    fails("this pattern was already collected", pattern.split, pattern, "a")
    fails("roper.pattern expected", core.pattern("a").split, {}, "a")
  end)
end)
