local html = require("tests.html")
local plot = require("roper.plot")
local report = require("roper.report")
local scratch = require("tests.scratch")

before_each(scratch.create)
after_each(scratch.remove)

-- The page of a study whose every text is `text`.
local function write(text)
  local path = scratch.path("report.html")
  report.write(path, {
    title = text,
    rows = { { "method", text }, { text, "1" } },
    identities = { { "identity", "float32" }, { text, "1e-7" } },
    results = {
      { method = text, seed = 1, solved = 3, problems = 4, accuracy = 0.75, loss = 1.5,
        steps_to_90 = 70, seconds = 12.4 },
      { method = text, seed = 2, solved = 0, problems = 4, accuracy = 0.25, loss = 2.5,
        seconds = 12.6 },
    },
    pictures = plot.available() and {
      { series = { label = text, y = { 2, 3 } },
        options = { title = text, xlabel = text, ylabel = text, format = "svg" } },
      { series = { label = text, y = { 2 } }, options = { title = "second", format = "svg" } },
    } or {},
  })
  return scratch.read(path)
end

describe("report.escape", function()
  it("leaves nothing that HTML could take for itself", function()
    assert.equal("a &lt;b&gt; &amp;amp; &quot;c&quot; &#39;d&#39; é",
                 report.escape([[a <b> &amp; "c" 'd' é]]))
    assert.equal("1.5", report.escape(1.5))
    assert.equal("nil", report.escape(nil))
    assert.equal(1, select("#", report.escape("<")))
  end)
end)

describe("report.write", function()
  it("writes one well-formed page that needs nothing else", function()
    local page = write("rope")
    local counts = html.check(page)
    assert.equal(1, counts.html)
    assert.equal(3, counts.table)
    assert.equal(2 + 3 + 2, counts.tr)
    assert.equal(plot.available() and 2 or nil, counts.svg)
    for _, reference in ipairs({ "<script", "<link", "<img", "src=", "@import", "url(http" }) do
      assert.is_nil(page:find(reference, 1, true), reference)
    end
  end)

  it("has a row a run", function()
    local page = write("rope")
    assert.truthy(page:find("<td>rope</td><td>1</td><td>3 of 4</td><td>0.750</td><td>1.5000</td>"
      .. "<td>70</td><td>12</td>", 1, true))
    assert.truthy(page:find("<td>2</td><td>0 of 4</td><td>0.250</td><td>2.5000</td><td>never</td>"
      .. "<td>13</td>", 1, true))
  end)

  it("takes hostile text as text", function()
    for _, text in ipairs({
      "<script>alert(1)</script>", "</title></style><script>x", "\"><img src=x onerror=x>",
      "a & b < c", "]]>", "<!--", "'; drop", "%s %d %1",
    }) do
      local page = write(text)
      html.check(page)
      assert.is_nil(page:find("<script", 1, true))
      assert.is_nil(page:find("<img", 1, true))
      assert.is_nil(page:find("<!--", 1, true))
      assert.truthy(page:find("<h1>" .. report.escape(text) .. "</h1>", 1, true))
      assert.truthy(page:find("<td>" .. report.escape(text) .. "</td>", 1, true))
    end
  end)
end)
