local markup = require("roper.text.markup")
local h = markup.h

describe("markup.escape", function()
  it("escapes every character with a meaning in HTML", function()
    assert.equal("a &lt;b&gt; &amp;amp; &quot;c&quot; &#39;d&#39; é",
                 markup.escape([[a <b> &amp; "c" 'd' é]]))
    assert.equal("1.5", markup.escape(1.5))
    assert.equal("nil", markup.escape(nil))
    assert.equal(1, select("#", markup.escape("<")))
  end)

  it("makes any bytes valid UTF-8 without control characters", function()
    assert.equal("a\u{FFFD}b", markup.escape("a\xFFb"))
    assert.equal("\u{FFFD}\u{FFFD}é\u{FFFD}", markup.escape("\xC3\xE2é\xC3"))
    assert.equal("a\n\tb\u{2400}\u{241B}[1m\u{2421}", markup.escape("a\n\tb\0\27[1m\127"))
    local bytes = {}
    for i = 0, 255 do
      bytes[i + 1] = string.char(i)
    end
    for _, text in ipairs({ table.concat(bytes), table.concat(bytes):reverse() }) do
      local escaped = markup.escape(text)
      assert.truthy(utf8.len(escaped))
      assert.is_nil(escaped:find("[%z\1-\8\11-\31\127<>\"']"))
    end
  end)
end)

describe("markup.render", function()
  it("escapes text and attributes, and sorts the latter", function()
    assert.equal('<p class="a&quot;b" id="c">x &lt; <b>3</b></p>',
                 markup.render(h.p { id = "c", class = 'a"b', "x < ", h.b { 3 } }))
  end)

  it("omits false and nil, also before other children", function()
    assert.equal("<p>ab</p>", markup.render(h.p { nil, false, "a", nil, { nil, "b" },
                                                  class = false }))
    assert.equal("", markup.render({ false, nil, {} }))
  end)

  it("closes every element except void ones", function()
    assert.equal('<br><i></i><div hidden=""></div>',
                 markup.render({ h.br {}, h.i {}, h.div { hidden = true } }))
  end)

  it("copies verbatim text", function()
    assert.equal("<style>a > b</style>", markup.render(h.style { markup.verbatim("a > b") }))
  end)
end)
