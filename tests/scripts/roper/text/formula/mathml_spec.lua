local html = require("tests.html")
local markup = require("roper.text.markup")
local mathml = require("roper.text.formula.mathml")

-- The number of children of MathML elements that require a fixed number.
local CHILDREN <const> = { msub = 2, msup = 2, munder = 2, mover = 2, mfrac = 2, msubsup = 3,
  munderover = 3 }

-- The elements of a formula in a line, without those around them.
local function inner(formula)
  local text = markup.render(mathml.line(formula))
  html.check(text)
  return (text:gsub("</?mrow>", ""):gsub("</?math>", ""))
end

describe("formula.mathml", function()
  it("has an element for everything in the notation", function()
    for formula, expected in pairs {
      ["a_{n,i}"] = "<msub><mi>a</mi><mi>n</mi><mo>,</mo><mi>i</mi></msub>",
      ["x²"] = "<msup><mi>x</mi><mn>2</mn></msup>",
      ["x^{}"] = "<msup><mi>x</mi></msup>",
      ["x_i^2"] = "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>",
      ["x'"] = '<mi>x</mi><mo lspace="0" rspace="0">′</mo>',
      ["θ'_t"] = '<msub><mi>θ</mi><mo lspace="0" rspace="0">′</mo><mi>t</mi></msub>',
      ["(-x, -y)^-"] = '<msup><mo form="prefix" stretchy="false">(</mo>'
        .. '<mo form="prefix">−</mo><mi>x</mi><mo>,</mo><mo form="prefix">−</mo><mi>y</mi>'
        .. '<mo form="postfix" stretchy="false">)</mo><mo form="infix">−</mo></msup>',
      ["Σ_i v"] = '<munder><mo>∑</mo><mi>i</mi></munder><mi class="v">v</mi>',
      ["q k"] = '<mi class="q">q</mi><mspace width=".17em"></mspace><mi class="k">k</mi>',
      ["Σ_i^T"] = "<munderover><mo>∑</mo><mi>i</mi><mi>T</mi></munderover>",
      ["cos mθ"] = '<mi>cos</mi><mspace width=".17em"></mspace><mi>m</mi><mi>θ</mi>',
      ['m "and" n'] = '<mi>m</mi><mspace width=".3em"></mspace><mtext>and</mtext>'
        .. '<mspace width=".3em"></mspace><mi>n</mi>',
      ["ô"] = '<mover accent="true" class="o"><mi>o</mi><mo stretchy="false">^</mo></mover>',
      ["-x"] = '<mo form="prefix">−</mo><mi>x</mi>',
      ["{1}/{n}"] = "<mfrac><mn>1</mn><mi>n</mi></mfrac>",
      ["1/n"] = "<mn>1</mn><mo>/</mo><mi>n</mi>",
      ["√d"] = "<msqrt><mi>d</mi></msqrt>",
      ['"for all"'] = "<mtext>for\u{A0}all</mtext>",
      ['|")|"| sub'] = '<mo form="prefix" stretchy="false">|</mo><mtext>)|</mtext>'
        .. '<mo form="postfix" stretchy="false">|</mo>'
        .. '<mspace width=".17em"></mspace><mi>sub</mi>',
      ["a < &"] = '<mi>a</mi><wbr><mo>&lt;</mo>',
    } do
      assert.equal(expected, inner(formula))
    end
  end)

  it("lets signs grow with a matrix or a fraction alone", function()
    local text = inner "[a, b; c, d] (x²)"
    assert.truthy(text:find('<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr>'
      .. "<mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>", 1, true), text)
    assert.equal(2, select(2, text:gsub('stretchy="true"', "")))
    assert.equal(2, select(2, inner("({a}/{b})"):gsub('stretchy="true"', "")))
  end)

  it("is in pieces where a line may break, and nowhere else", function()
    local function pieces(formula, render)
      local text = markup.render((render or mathml.display)(formula))
      return select(2, text:gsub("<math[ >]", "")), select(2, text:gsub("<wbr>", ""))
    end
    assert.same({ 3, 2 }, { pieces "o_n = Σ_i a + b" })
    assert.same({ 2, 1 }, { pieces "-x = f(a + b, -c) · [a = b; c - d]_{i - n}" })
    assert.same({ 4, 2 }, { pieces "a = 1  b\n&c" })
    assert.same({ 1, 0 }, { pieces "|a + b|" })
    assert.same({ 3, 2 }, { pieces("o_n = Σ_i a + b", mathml.line) })
    assert.same({ 1, 0 }, { pieces("o_n = Σ_i a + b", function(text)
      return mathml.line(text, true)
    end) })
  end)

  it("keeps together what wide blanks part", function()
    local function clauses(formula)
      return select(2, markup.render(mathml.display(formula)):gsub('class="clause"', ""))
    end
    assert.equal(3, clauses "a = 1,  b - c = 2,  d = 3")
    assert.equal(0, clauses "a = 1 + b")
  end)

  it("gives each element the children that it must have", function()
    local root = markup.render(mathml.display(
      "v̂_i^2 &= {Σ_i^T a_i}/{√{1 + x²}} + [1, 2; 3, 4]^T_n\n&= Π_k ⟨x', y_{i,j}⟩ · ‖z‖²"))
    html.check(root)
    local stack = { { name = "", count = 0 } }
    for slash, name in root:gmatch "<(/?)(%w+)[^>]*>" do
      local top = stack[#stack]
      if slash == "/" then
        assert.equal(CHILDREN[name] or top.count, top.count, name)
        table.remove(stack)
      elseif name ~= "wbr" then
        top.count = top.count + 1
        stack[#stack + 1] = { name = name, count = 0 }
      end
    end
    assert.equal(1, #stack)
  end)
end)
