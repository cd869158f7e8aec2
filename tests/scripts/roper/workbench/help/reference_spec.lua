require("roper")
local browser = require("tests.browser")
local catalogue = require("roper.workbench.help.catalogue")
local html = require("tests.html")
local pages_of = require("roper.workbench.help.page")
local reference = require("roper.workbench.help.reference")
local scratch = require("tests.scratch")

-- Collects the width of each page in a frame and, for pages with a query, the names that they show.
local SURVEY = [[
  addEventListener("load", () => {
    const lines = [];
    for (const frame of document.querySelectorAll("iframe")) {
      const page = frame.contentDocument;
      lines.push("width " + page.documentElement.scrollWidth + " in " + frame.width);
      if (frame.src.includes("?"))
        for (const item of page.querySelectorAll("#all li"))
          if (item.offsetHeight) lines.push("shows " + item.querySelector("a").textContent);
    }
    document.body.textContent = lines.join("\n");
  });
]]

describe("the reference", function()
  local pages = {} -- text by file name

  setup(function()
    scratch.create()
    local folder = scratch.path("reference")
    assert.equal(folder .. "/index.html", reference.write(folder))
    for name in io.popen("ls " .. folder):lines() do
      pages[name] = scratch.read(folder .. "/" .. name)
    end
  end)
  teardown(scratch.remove)

  -- Does the target of an address in a page exist?
  local function leads(address)
    local name, id = address:match("^([^#]+)#?(.*)$")
    local text = pages[name]
    return text ~= nil and (id == "" or text:find((' id="%s"'):format(id), 1, true) ~= nil)
  end

  it("has a section for every public name, and no dead link", function()
    for _, entry in ipairs(catalogue.entries()) do
      assert.is_true(leads(pages_of.address(entry)), entry.path)
    end
    local count = 0
    for name, text in pairs(pages) do
      html.check(text)
      text = text:gsub('<link href="data:," rel="icon">', "")
      assert.is_nil(text:find("<link", 1, true) or text:find("src=", 1, true), name)
      for address in text:gmatch('href="([^"]*)"') do
        count = count + 1
        assert.is_true(leads(address), name .. ": " .. address)
      end
    end
    assert(count > 1000, count)
    local row = '<th class="text" scope="row">x.numel()</th><td class="text">x:numel()</td>'
    assert.truthy(pages["pytorch.html"]:find(row, 1, true))
    assert.is_false(leads("roper.html#none") or leads("none.html"))
  end)

  -- The section of a name.
  local function section(path)
    local name, id = pages_of.address(catalogue.entry(path)):match("^(.*)#(.*)$")
    return (pages[name]:match(('<section id="%s">(.-)</section>'):format(id)))
  end

  it("shows how to call a function, and links to aliases, classes and inherited methods", function()
    local sum = section("roper.sum")
    assert.truthy(sum:find("<h2><code>roper.sum(x, axis?, keep?)</code></h2>", 1, true))
    assert.truthy(sum:find('href="tensor.html#sum"', 1, true))
    local method = section("tensor:sum")
    assert.truthy(method:find("<p>The sum along ", 1, true), method)
    assert.truthy(method:find('href="roper.html#sum"', 1, true))
    assert.falsy(section("roper.train"):find('href="roper.evaluate.html"', 1, true)) -- its option
    assert.truthy(pages["Linear.html"]:find('href="Module.html#count"', 1, true))
    local loss = section("Linear:cross_entropy")
    assert.truthy(loss:find('href="Linear.html#forward"><code>forward</code>', 1, true))
    assert.truthy(loss:find('href="roper.html#cross_entropy"', 1, true))
    assert.truthy(loss:find("<dt><code>reduction</code></dt>", 1, true))
    assert.truthy(loss:find(">&gt; linear = roper.nn.Linear", 1, true))
  end)

  browser.it("can be searched by name and by text, and fits 1280 and 390 pixels", function(path)
    local frames = {}
    local function add(name, width)
      frames[#frames + 1] = ('<iframe width="%d" style="border:0" src="reference/%s"></iframe>')
        :format(width, name)
    end
    for _, query in ipairs({ "softmax", "inverse square", "xyzzy" }) do
      add("index.html?q=" .. query, 1280)
    end
    for _, name in ipairs({ "index", "roper", "roper.position", "tensor", "pytorch" }) do
      add(name .. ".html", 1280)
      add(name .. ".html", 390)
    end
    local document = browser.load(path, ("<!doctype html><html><head></head><body>%s</body></html>")
      :format(table.concat(frames)), SURVEY, { "--allow-file-access-from-files" })
    local count = 0
    for width, there in document:gmatch("width (%d+) in (%d+)") do
      count = count + 1
      assert.is_true(tonumber(width) <= tonumber(there), document)
    end
    assert.equal(#frames, count)
    local first, second, third = document:match(("width %d+ in 1280\n(.-)"):rep(3) .. "width")
    assert.truthy(first:find("^shows roper.softmax\nshows tensor:softmax\nshows [%a.]+log_softmax"))
    assert.truthy(second:find("roper.optim.schedule.inverse_square_root", 1, true))
    assert.equal("", third)
  end)
end)
