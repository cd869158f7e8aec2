local core = require("roper.core")
local files = require("roper.system.file")
local process = require("tests.process")
local text = require("roper.text.width")

describe("text.width", function()
  it("is that of an independent implementation", function()
    local count = 0
    for width, sample in files.read("tests/fixtures/widths.tsv"):gmatch("(%d+)\t([^\n]*)\n") do
      assert.equal(tonumber(width), text.width(sample), sample)
      count = count + 1
    end
    assert.is_true(count >= 30)
  end)

  it("counts no colours, and a column for a byte that is not UTF-8", function()
    assert.equal(2, text.width("\27[1;31mab\27[0m"))
    assert.equal(4, text.width("a\xff\xe6\x97"))
  end)

  it("does not depend on the locale", function()
    local status, output = process.run({ "sh", "-c",
      [[LC_ALL=C ./roper -e 'require("roper.text.width").width "日本"']] })
    assert.same({ 0, "4\n" }, { status, output })
    assert.error_matches(function() core.character_width(0x110000) end, "code")
  end)
end)

describe("text", function()
  it("is cut between characters", function()
    assert.equal("lo", text.cut("loss", 2))
    assert.equal("日", text.cut("日本語", 3))
    assert.equal("e\u{301}", text.cut("e\u{301}e\u{301}", 1))
    assert.equal("", text.cut("👩‍👩‍👧", 1))
    assert.equal("loss", text.cut("loss", math.huge))
  end)

  it("is cut with an ellipsis if it does not fit", function()
    assert.equal("loss", text.fit("loss", 4))
    assert.equal("lo…", text.fit("loss", 3))
    assert.equal("日…", text.fit("日本語", 4))
    assert.equal("…", text.fit("loss", 1))
  end)

  it("is padded", function()
    assert.equal("日  ", text.pad("日", 4))
    assert.equal("  日", text.pad("日", 4, "r"))
    assert.equal(" 日 ", text.pad("日", 4, "c"))
    assert.equal("loss", text.pad("loss", 2))
  end)

  it("wraps between words", function()
    assert.same({ "one two", "   three" }, text.wrap("one two  three", 9, "", 3))
    assert.same({ "- averylongword", "  b" }, text.wrap("averylongword b", 5, "- ", 2))
    assert.same({ "a b", "c" }, text.wrap({ "a b", "c" }, 4))
    assert.same({ "" }, text.wrap("", 4))
  end)

  it("wraps East Asian text between characters, but not before a full stop", function()
    assert.same({ "日本", "語。", "「次」", "と a" }, text.wrap("日本語。「次」と a", 6))
    assert.same({ "日本", "(語)a" }, text.wrap("日本(語)a", 6))
  end)

  it("is aligned in rows", function()
    assert.same({ "a     bbb", "日本  ± 1" }, text.rows({ { "a", "bbb" }, { "日本", "± 1" } }))
    assert.same({ "a", "b" }, text.rows({ { "a", "" }, { "b" } }))
    assert.same({ "a  b  1", "c  d" }, text.rows({ { "a", "b", "1" }, { "c", "d" } }, "llr"))
  end)

  -- In a process of its own: 2e6 blanks, looked through once from each of them, take hours.
  it("takes steps in proportion to its length", function()
    local status, output = process.run({ "./roper", "-e", [[
      #table.concat(require("roper.text.width").rows { { ("x"):rep(2000000), "1" }, { "y", "2" },
        { "z", "" } }, "\n")]] })
    assert.same({ 0, "4000009\n" }, { status, output })
  end)
end)
