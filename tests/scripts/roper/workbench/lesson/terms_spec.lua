require("roper")
local check = require("tests.html").check
local document = require("roper.text.document")
local files = require("roper.system.file")
local glossary = require("roper.workbench.lesson.glossary")
local html = require("roper.text.document.html")
local lessons = require("roper.workbench.lesson")
local scratch = require("tests.scratch")
local terminal = require("roper.text.document.terminal")
local terms = require("roper.workbench.lesson.terms")

-- A lesson with this text.
local function lesson(name, text)
  return { name = name, steps = { { text = text } } }
end

-- The text as HTML, and the number of terms in it.
local function linked(text, seen)
  local made = terms.linked(document.paragraphs(text), seen or {})
  local page = require("roper.text.markup").render(html.nodes(made))
  return page, select(2, page:gsub('<span class="term">', ""))
end

describe("the glossary", function()
  it("has at least 60 terms in alphabetical order, none of them twice", function()
    assert.is_true(#glossary >= 60)
    local words = {}
    for i, term in ipairs(glossary) do
      assert.is_true(i == 1 or glossary[i - 1].name:lower() < term.name:lower(), term.name)
      for _, word in ipairs(term.words or { term.name, term.name .. "s" }) do
        assert.is_nil(words[word], word .. " twice")
        words[word] = true
      end
    end
  end)

  it("explains each in two sentences", function()
    for _, term in ipairs(glossary) do
      local text = terminal.line(document.prose(term.text))
      local _, ends = text:gsub("[%.?]%f[%s%z]", "")
      assert.equal(2, ends, text)
      assert.truthy(text:find("^[%uW].*%.$"), text)
    end
  end)

  it("has only terms that a lesson mentions", function()
    local shown = terminal.render(terms.document(lessons.all()))
    for _, term in ipairs(glossary) do
      assert.truthy(("\n" .. shown):find("\n" .. term.name .. ". ", 1, true), term.name)
    end
  end)
end)

describe("terms in prose", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("are linked where they are mentioned first", function()
    local seen = {}
    local page, count = linked("Two queries and a query. Dot\nproducts of `key` and $q$.", seen)
    assert.equal(2, count)
    assert.truthy(page:find('<a href="glossary.html#query">queries</a>', 1, true), page)
    assert.truthy(page:find('<a href="glossary.html#dot-product">Dot\nproducts</a>', 1, true), page)
    assert.truthy(page:find("<code>key</code>", 1, true), page)
    page, count = linked("The dot\nproduct of a query and a key.", seen)
    assert.equal(1, count)
    assert.truthy(page:find('a query and a <span class="term"><a href="glossary.html#key">key', 1,
      true), page)
  end)

  it("keep their style", function()
    local query = { kind = "prose", "A ", document.styled("q", "query"), " and a query." }
    local made = terms.linked({ document.paragraph(query) }, {})
    local page = require("roper.text.markup").render(html.nodes(made))
    assert.truthy(page:find('<span class="term"><a href="glossary.html#query"><span class="q">'
      .. "query</span></a></span> and a query.", 1, true), page)
  end)

  it("are whole words", function()
    for _, text in ipairs({ "keyhole", "monkey", "Transformer-XL", "x-key", "rope", "LOSS",
      "in Transformers", "a mesh, Key" }) do
      assert.equal(0, select(2, linked(text)), text)
    end
    assert.equal(1, select(2, linked("Of an identity matrix.")))
    for _, text in ipairs({ "Dot. Keys", "(key)", "(Is it? Keys)", "key's", "\"Key\"", "key.",
      "softmax: RoPE", "float32" }) do
      assert.is_true(select(2, linked(text)) > 0, text)
    end
    assert.is_nil(linked("[key](https://a.b)"):find('class="term"', 1, true))
  end)

  it("are listed with the first lesson that mentions them", function()
    local list = { lesson("one", "Nothing."), lesson("two", "A seed."), lesson("three", "Seeds.") }
    assert.equal([[
Glossary

seed. The number from which all random numbers of a run follow. The same seed
gives the same run.
First in two.
]], terminal.render(terms.document(list), { width = 80 }))
    assert.is_nil(terms.document({ list[1] }))
  end)

  it("have a page, with an id for each", function()
    files.make(scratch.path("pages"))
    assert.truthy(terms.write({ lesson("two", "A dot product.") }, scratch.path("pages"),
      function(name) return name .. ".html" end))
    local text = scratch.read(scratch.path("pages/glossary.html"))
    check(text)
    for _, part in ipairs({ 'id="dot-product"', 'href="two.html"', 'href="index.html"' }) do
      assert.truthy(text:find(part, 1, true), part)
    end
    files.make(scratch.path("none"))
    assert.is_nil(terms.write({ lesson("one", "Nothing.") }, scratch.path("none")))
    assert.is_nil(files.read(scratch.path("none/glossary.html")))
  end)
end)
