require("roper")
local bibliography = require("roper.workbench.lesson.bibliography")
local check = require("tests.html").check
local document = require("roper.text.document")
local files = require("roper.system.file")
local lessons = require("roper.workbench.lesson")
local paths = require("roper.system.paths")
local scratch = require("tests.scratch")
local sources = require("roper.workbench.lesson.sources")
local tables = require("roper.base.tables")
local terminal = require("roper.text.document.terminal")

local function each(f)
  for _, group in ipairs(bibliography) do
    for _, source in ipairs(group) do
      f(source, group)
    end
  end
end

local ROTATION <const> = { name = "rotation", steps = { { text = "x", exercise = { {
  answer = "See [Su et al. 2021](arXiv:2104.09864)." } } } } }

describe("the bibliography", function()
  it("contains each source that a lesson links to, and no others", function()
    local listed, cited = {}, {}
    each(function(source)
      local href = document.citation(source.title, source.address).href
      assert.is_nil(listed[href], source.address .. " twice")
      listed[href] = true
    end)
    for _, lesson in ipairs(lessons.all()) do
      for href in pairs(sources.links(lesson)) do
        assert.is_true(listed[href], ("%s links to %s, which is not in the bibliography"):format(
          lesson.name, href))
        cited[href] = true
      end
    end
    for href in pairs(listed) do
      assert.is_true(cited[href], "no lesson links to " .. href)
    end
  end)

  it("gives the authors, the year, the title and the contribution of each", function()
    each(function(source, group)
      assert.equal("string", type(group.title))
      assert.is_true(source.authors ~= "" and source.title ~= "", source.address)
      assert.is_true(math.type(source.year) == "integer" and source.year >= 2014, source.address)
      local line = terminal.line(document.prose(source.contributes))
      assert.is_true(line:find("^%u.*%.$") ~= nil and #line <= 160, line)
    end)
  end)

  it("has the authors and the year of papers as in the lessons", function()
    local names = {}
    each(function(source)
      names[source.address] = ("%s %d"):format(source.authors, source.year)
    end)
    for _, name in ipairs(lessons.names()) do
      local path = ("%s/../lessons/%s.lua"):format(paths.LIBRARY, (name:gsub("-", "_")))
      for text, address in files.read(path):gmatch("%[([^%[%]]+)%]%((arXiv:[^)]*)%)") do
        assert.equal(names[address], (text:gsub("%s+", " ")), name)
      end
    end
  end)
end)

describe("the sources of lessons", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("are those that they cite, with the lessons", function()
    local other = { name = "other", steps = { { text = "[Su et al.\n2021](arXiv:2104.09864)" } } }
    local shown = terminal.render(sources.document({ ROTATION, other }), { width = 80 })
    assert.equal([[
Sources

Papers and posts

Su et al. 2021. RoFormer: Enhanced Transformer with Rotary Position Embedding,
arXiv:2104.09864
Introduces RoPE, also for linear attention.
Cited in rotation, other.

How to cite

All of these sources, and roper itself, for BibTeX: ./roper lesson sources
--bibtex.
]], shown)
    local own = { name = "own", steps = { { text = "[Me](https://a.b)" } } }
    assert.is_nil(sources.document({ own }))
  end)

  it("are a page with links to the sources and to the lessons", function()
    files.make(scratch.path("pages"))
    assert.truthy(sources.write({ ROTATION }, scratch.path("pages"), function(name)
      return name .. ".html"
    end))
    local text = scratch.read(scratch.path("pages/sources.html"))
    check(text)
    for _, href in ipairs { "https://arxiv.org/abs/2104.09864", "rotation.html", "index.html" } do
      assert.truthy(text:find('href="' .. href .. '"', 1, true), href)
    end
    assert.is_nil(text:find("research.labml.ai", 1, true))
    assert.truthy(text:find("@software{roper,", 1, true))
  end)

  it("are entries for BibTeX, each with a key of its own and balanced braces", function()
    local text, keys = sources.bibtex(lessons.all()), {}
    for key, body in text:gmatch("@%l+{([^,]+),(.-)\n}\n") do
      assert.is_nil(keys[key], key)
      assert.truthy(key:find("^[%l%d]+$"), key)
      keys[key] = body
      assert.equal("{" .. body .. "}", ("{" .. body .. "}"):match("^%b{}"), key)
      assert.is_nil(body:gsub("\\[_&%%#$]", ""):gsub("url .*", ""):find("[_&%%#$]"), key)
    end
    local count = 1 -- roper
    each(function() count = count + 1 end)
    assert.equal(count, tables.count(keys))
    assert.truthy(keys.roper:find("version       = {" .. require("roper").version .. "}", 1, true))
    assert.truthy(keys.su2021roformer:find("author        = {Su, Jianlin and Lu, Yu and ", 1, true))
    assert.truthy(keys.peng2023yarn and keys.peng2023yarn2)
    assert.truthy(keys.nanochat2026rotation:find("{{nanochat}}", 1, true))
    assert.truthy(keys.nanochat2026rotation:find("apply\\_rotary\\_emb", 1, true))
    assert.truthy(keys.yang2025path:find("{Yang, Songlin and Shen, Yikang and ", 1, true))
    assert.truthy(keys.movahedi2026selective2:find("{Movahedi and others}", 1, true))
  end)

  it("have full names that begin with those in the lessons", function()
    each(function(source)
      if source.people then
        local names = {}
        for name in (source.people .. " and "):gmatch("(.-), .- and ") do
          names[#names + 1] = name
        end
        local first, second = source.authors:match("^(.-) and (.*)$")
        assert.equal(names[1], first or source.authors:match("^(.-) et al%.$") or source.authors)
        assert.equal(first and second or names[2], names[2], source.address)
        local is_more = source.authors:find(" et al", 1, true)
        assert.equal(first and 2 or is_more and math.max(#names, 3) or 1, #names, source.address)
      end
    end)
  end)

  it("have no page if there are none", function()
    files.make(scratch.path("none"))
    assert.is_nil(sources.write({ { name = "none", steps = {} } }, scratch.path("none")))
    assert.is_nil(files.read(scratch.path("none/sources.html")))
  end)
end)
