local text = require("roper.workbench.plot.text")

describe("text.clean", function()
  it("leaves good text as it is", function()
    for _, good in ipairs({ "", "loss", "θ = 0.1 <&> 日本 🙂" }) do
      assert.equal(good, text.clean(good))
    end
  end)

  it("removes characters that terminals or XML cannot contain", function()
    assert.equal("a b  c", text.clean("a\nb\0\27c"))
    assert.equal("a\u{FFFD}b\u{FFFD}\u{FFFD}", text.clean("a\xffb\xe9\x80"))
    assert.equal("\u{FFFD}\u{FFFD}\u{FFFD}", text.clean("\xed\xa0\x80")) -- a lone surrogate
    assert.equal("\u{FFFD} ", text.clean("\u{FFFF}\u{9b}")) -- no XML; a control sequence in 8 bits
  end)
end)

describe("text.token", function()
  it("shows invisible characters", function()
    assert.equal("␣", text.token(" "))
    assert.equal("↵⇥", text.token("\n\t"))
    assert.equal("∅", text.token(""))
    assert.equal("\u{FFFD}", text.token("\xff"))
  end)
end)
