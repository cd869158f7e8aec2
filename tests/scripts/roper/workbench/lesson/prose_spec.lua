local document = require("roper.text.document")
local html = require("roper.text.document.html")
local check = require("tests.html").check
local markup = require("roper.text.markup")
local prose = require("roper.workbench.lesson.prose")

local PAPER = "([Su et al. 2021](arXiv:2104.09864), eq. 15)"

describe("prose", function()
  it("is plain text on a terminal", function()
    for text, shown in pairs {
      ["the turn $R_{i-n} v_i$, `a_b`"] = "the turn Rᵢ₋ₙ vᵢ, a_b",
      [PAPER] = "(Su et al. 2021, arXiv:2104.09864, eq. 15)",
      ["`$x$` and `[a](arXiv:b)`"] = "$x$ and [a](arXiv:b)",
      ["5 $ or 6 $, x[1] (y)"] = "5 $ or 6 $, x[1] (y)",
      ["$x$$y_1$"] = "xy₁",
      ["$a\n  + b$"] = "a + b",
    } do
      assert.equal(shown, prose.line(text))
    end
  end)

  it("contains formulas and links on pages", function()
    local function render(text)
      local shown = markup.render(html.inline(document.prose(text), function(name)
        return name == "rotation" and "rotation.html"
      end))
      check(shown)
      return shown
    end
    local index = '<math><msub><mi class="v">v</mi><mi>i</mi></msub></math>'
    assert.equal(('a <span class="whole">(%s,</span> b'):format(index), render("a ($v_i$, b"))
    assert.equal(('<span class="whole">%s</span>\u{A0}−\u{A0}b'):format(index), render("$v_i$ - b"))
    assert.equal(('<span class="whole">%s-th</span> one'):format(index), render("$v_i$-th one"))
    assert.is_nil(render("$o_n = Σ_i a_{n,i} R_{i-n} v_i$."):find("<span", 1, true))
    assert.equal('(<a href="https://arxiv.org/abs/2104.09864">Su et al. 2021</a>, eq. 15)',
      render(PAPER))
    assert.equal('<a href="rotation.html"><code>rotation</code></a>, <code>precision</code>-like',
      render("`rotation`, `precision`-like"))
    assert.equal("−x", render("-x"))
  end)

  it("reports an error in a formula or in a paper's number", function()
    assert.error_matches(function() prose.line "the $a_$" end, "expected a letter, .* of: a_$")
    assert.error_matches(function() prose.line "[S](arXiv:21)" end,
      "expected the number of a paper such as arXiv:2104.09864, got arXiv:21")
  end)
end)
