local document = require("roper.text.document")
local html = require("roper.text.document.html")
local check = require("tests.html").check
local markup = require("roper.text.markup")
local terminal = require("roper.text.document.terminal")
local text = require("roper.text.width")

local HOSTILE <const> = "<b>&\27[31m\u{202E}`x` $y$\n"

local function shown(tree, width, is_folded)
  return terminal.render(tree, { width = width or 80, is_folded = is_folded })
end

local function page(tree, href)
  local found = markup.render(html.nodes(tree, href))
  check("<div>" .. found .. "</div>")
  return found
end

-- One node of every kind, with the same text in it.
local function everything(words)
  return { document.heading(words), document.paragraph { words, document.BREAK,
    document.code(words), document.link(words, "x.html", words), document.styled("name", words),
    document.styled("dim", words) }, document.listing(words),
    document.transcript { { source = words, output = words } }, document.check(true, words, words),
    document.table { head = { words, words }, rows = { { words, words } }, caption = words },
    document.figure(function() return "" end, words),
    document.details(words, document.paragraph(words)), document.list { words },
    document.definitions { { words, words, { { words, words } } } } }
end

describe("a document", function()
  it("escapes what it contains, once, and reads no notation in it", function()
    local tree = everything(HOSTILE)
    local lines, nodes = shown(tree):gsub("%s+", " "), page(tree)
    assert.is_nil(lines:find("[\27\r]"))
    assert.is_nil(lines:find("\u{202E}", 1, true))
    assert.equal(select(2, lines:gsub("\\x1B", "")), select(2, lines:gsub("`x` $y%$", "")))
    assert.is_true(select(2, lines:gsub("\\x1B", "")) >= 20)
    assert.is_nil(lines:find("\\\\x1B", 1, true))
    assert.is_nil(nodes:find("<b>&", 1, true))
    assert.is_nil(nodes:find("&amp;lt;", 1, true))
    assert.is_true(select(2, nodes:gsub("&lt;b&gt;&amp;␛", "")) >= 20)
  end)

  it("omits false, nil and, in a terminal, elements of pages", function()
    local tree = { nil, false, "one", { "two", markup.h.b { "three" } }, nil,
      document.paragraph { "four", markup.h.i { "five" }, false } }
    assert.equal("one\n\ntwo\n\nfour\n", shown(tree))
    assert.equal("<p>one</p><p>two</p><b>three</b><p>four<i>five</i></p>", page(tree))
  end)

  it("wraps prose, with formulas and expressions in one piece", function()
    local tree = document.paragraphs(("word "):rep(3) .. "$a + b$ n - 1\n\n`x - y` "
      .. "[S](arXiv:2104.09864)\n")
    assert.equal("word word word\na + b n - 1\n\nx - y S,\narXiv:2104.09864\n",
      shown(tree, 19))
    assert.truthy(page(tree):find('n\u{A0}−\u{A0}1</p><p><code>x - y</code> <a href="https://arxiv'
      .. '.org/abs/2104.09864">S</a></p>', 1, true))
    assert.error_matches(function() document.prose "[S](arXiv:21)" end,
      "expected the number of a paper such as arXiv:2104.09864, got arXiv:21")
    assert.equal("$x$, [a](arXiv:b) and 5 $ or 6 $, x[1] (y)", terminal.line(document.prose(
      "`$x$`, `[a](arXiv:b)` and 5 $ or 6 $, x[1] (y)")))
    assert.equal("$HOME/x and $PATH", terminal.line(document.prose("$HOME/`x` and $PATH", "code")))
  end)

  it("links prose to papers and pages", function()
    local address = "https://a-b.org/c_d/e-1.html?x=%20#z"
    local tree = document.paragraphs("See [issue\n251](" .. address .. ").")
    assert.equal("See issue 251.\n", shown(tree))
    assert.equal('<p>See <a href="' .. address .. '">issue\n251</a>.</p>', page(tree))
    for _, wrong in ipairs { "http://a.org", "https://a", "https://a.org/ b", "https://a.org/\"b",
      "javascript:a", "mailto:a@b.org", "https:" } do
      assert.error_matches(function() document.prose("[S](" .. wrong .. ")") end,
        "expected arXiv:NUMBER or https://HOST/PATH, got " .. wrong, 1, true)
    end
  end)

  it("links code to an address of its own, or that of the page", function()
    local tree = document.paragraph { document.code("a", "a.html"), document.code "b",
      document.code "c" }
    assert.equal('<p><a href="a.html"><code>a</code></a><a href="b.html"><code>b</code></a>'
      .. "<code>c</code></p>", page(tree, function(code) return code == "b" and "b.html" end))
    assert.is_nil(page(tree):find("b.html", 1, true))
  end)

  it("folds details in a terminal", function()
    local tree = document.details(document.check(true, "exact"), document.paragraph "why")
    assert.equal("  ✓ exact\n    why\n", shown(tree))
    assert.equal("  ✓ exact\n", shown(tree, 80, true))
    assert.truthy(page(tree):find("<details><summary><b class=\"good\">✓</b> exact</summary><p>why",
      1, true))
  end)

  it("breaks lines that are too long for a terminal, and indents the rest", function()
    assert.equal("  for one,\n      two do\n    three\n",
      shown(document.listing "for one, two do\n  three", 12))
  end)

  it("aligns definitions, and nested ones below theirs", function()
    local rows = { { "steps", "how many", { { "of", "which" } } }, { ("n"):rep(30), "long" } }
    assert.equal("  steps  how\n         many\n    of   which\n  " .. ("n"):rep(30)
      .. "\n         long\n", shown(document.definitions(rows), 15))
    assert.equal("  steps  how m…\n    of   which\n", shown(document.definitions({ rows[1] }, true),
      15))
  end)

  it("draws figures for both", function()
    local tree = document.figure(function(format)
      return format == "svg" and "<?xml version='1'?>\n<svg></svg>" or "▁▂\n"
    end, "drawn")
    assert.equal("▁▂\ndrawn\n", shown(tree))
    assert.equal('<figure><div class="pic"><svg aria-label="drawn"></svg></div>'
      .. "<figcaption>drawn</figcaption></figure>", page(tree))
  end)
end)

describe("a table in a terminal", function()
  local function lines_of(options, width)
    local lines = {}
    for line in shown(document.table(options), width):gmatch("[^\n]+") do
      assert.is_true(text.width(line) <= width, line)
      lines[#lines + 1] = line
    end
    return lines
  end

  local rows = { { "日本語のテキスト", "of three words", "12" }, { "x", "y", "3" } }

  it("aligns its columns by the width of characters", function()
    assert.same({ "  name              what             n",
      "  日本語のテキスト  of three words  12", "  x                 y                3" },
      lines_of({ head = { "name", "what", "n" }, rows = rows, sides = "llr" }, 80))
  end)

  it("wraps cells between words, and East Asian text anywhere", function()
    assert.same({ "  日本語の  of three  12", "  テキスト  words", "  x         y          3" },
      lines_of({ rows = rows, sides = "llr" }, 24))
  end)

  it("shortens the columns that it may", function()
    assert.same({ "  日本語の…  of three words  12", "  x          y                3" },
      lines_of({ rows = rows, sides = "llr", shorten = { 1 } }, 31))
  end)

  it("leaves columns out rather than breaking rows, and names them", function()
    local wide = { head = { "run", "preset", "seed", "loss" }, drop = { 2, 3 },
      rows = { { "a/b", "tiny", "10000001", "0.25" } } }
    assert.same({ "  run  preset      seed  loss", "  a/b    tiny  10000001  0.25" },
      lines_of(wide, 29))
    local narrow = lines_of(wide, 24)
    assert.same({ "  run      seed  loss", "  a/b  10000001  0.25" }, { narrow[1], narrow[2] })
    assert.equal("  not shown, for lack of room: preset",
      (table.concat(narrow, " ", 3):gsub("%s+", " "):gsub("^ ", "  ")))
    wide.drop = nil
    assert.equal("  run  preset", lines_of(wide, 20)[1])
  end)

  it("has any width without a terminal", function()
    local cell = ("x"):rep(200)
    assert.equal("  " .. cell .. "  1\n", terminal.render(document.table { rows = { { cell, 1 } } },
      { stream = io.tmpfile() }))
  end)
end)
