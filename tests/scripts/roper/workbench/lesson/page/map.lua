-- The specs of the map of the lessons; page_spec makes the pages.

local assert = require("luassert")
local busted = require("busted")
local html = require("tests.html")
local map = require("roper.workbench.lesson.map")
local tables = require("roper.base.tables")

local LARGEST <const> = 250000 - 72100 -- bytes of a page without those of its fonts

--- Tests of the map.
---@param all table[] the lessons
---@param read fun(name: string): string a page
return function(all, read)
  busted.it("have a map of what each lesson takes and needs, with its picture", function()
    local text = read("index")
    html.check(text)
    local seen = {}
    for number, lesson in ipairs(all) do
      local card = text:match(('<article [^>]*id="lesson%%-%d".-</article>'):format(number))
      assert.truthy(card:find(('href="%s.html"'):format(lesson.name), 1, true))
      assert.truthy(lesson.summary and lesson.minutes, lesson.name)
      assert.truthy(card:find(("%d minutes"):format(lesson.minutes), 1, true), lesson.name)
      local needs = {}
      for other in card:gmatch('href="#lesson%-(%d+)"') do
        needs[#needs + 1] = all[tonumber(other)].name
      end
      assert.same(lesson.needs, needs)
      local picture = card:match('<span class="thumb"><svg.-</span>')
      assert.truthy(picture and picture:find("<path", 1, true), lesson.name)
      assert.is_nil(picture:find("<text", 1, true))
      assert.is_nil(seen[picture], lesson.name)
      seen[picture] = true
    end
  end)

  busted.it("have a map with a line of needed lessons, and branches after their needs", function()
    local is_needed, at = {}, {}
    for number, lesson in ipairs(all) do
      at[lesson.name] = number
      for _, name in ipairs(lesson.needs) do
        is_needed[name] = true
      end
    end
    local branches = 0
    for station in read("index"):gmatch('<li class="station.-</li>') do
      local first
      for number in station:gmatch('id="lesson%-(%d+)"') do
        local lesson = all[tonumber(number)]
        if not first then
          first = tonumber(number)
          assert.is_true(is_needed[lesson.name] or not lesson.needs[1], lesson.name)
        else
          branches = branches + 1
          assert.is_nil(is_needed[lesson.name], lesson.name)
          assert.equal(first, math.max(table.unpack(tables.map(lesson.needs, function(name)
            return at[name]
          end))), lesson.name)
        end
      end
    end
    assert.is_true(branches >= 9, branches)
  end)

  busted.it("have a map with three ways through the lessons, with their times", function()
    local times = {}
    for path, time in read("index"):gmatch('data%-path="([%d ]+)".-<em>(.-)</em>') do
      local sum, done = 0, {}
      for number in path:gmatch("%d+") do
        local lesson = all[tonumber(number)]
        sum, done[lesson.name] = sum + lesson.minutes, true
        for _, name in ipairs(times[2] and lesson.needs or {}) do
          assert.is_true(done[name], lesson.name .. " needs " .. name)
        end
      end
      times[#times + 1] = { sum, time }
    end
    assert.same({ 10, "1 lesson" }, times[1])
    assert.same({ 90, "4 lessons · 1 h 30" }, times[2])
    assert.is_true(times[3][1] >= 200 and times[3][2]:find("10 lessons", 1, true) ~= nil)
  end)

  busted.it("show only the plot of a picture on the map", function()
    local picture = '<svg class="chart" viewBox="0 0 9 9"><rect></rect><svg height="5" width="6" '
      .. 'x="1" y="2"><path d="M0 0"></path><svg x="1%" y="100%"><text>1</text></svg></svg></svg>\n'
    local drawn = require("roper.text.markup").render(map.thumbnail(picture))
    assert.truthy(drawn:find('viewBox="1 2 6 5"', 1, true), drawn)
    assert.truthy(drawn:find('<path d="M0 0"></path>', 1, true))
    assert.is_nil(drawn:find("<text", 1, true))
  end)

  busted.it("are small, as is the map", function()
    for _, name in ipairs({ "index", table.unpack(tables.map(all, function(lesson)
      return lesson.name
    end)) }) do
      local size = #read(name):gsub("@font%-face %b{}\n", "")
      assert.is_true(size <= LARGEST, ("%s: %d bytes"):format(name, size))
    end
  end)
end
