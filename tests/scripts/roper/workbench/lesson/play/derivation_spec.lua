-- The lines of the derivation add up to the sums that the library computes; the pieces of a line
-- take the places of the next one.

local browser = require("tests.browser")
local core = require("roper.core")
local lessons = require("roper.workbench.lesson")
local page = require("roper.workbench.lesson.page")
local roper = require("roper")
local scratch = require("tests.scratch")

-- Goes through the lines by keys and buttons, and through the first positions.
local HAND <const> = [[
  addEventListener("load", () => {
    const figure = document.querySelector(".derivation");
    const find = (selector) => figure.querySelector(selector);
    const seen = [], order = [];
    const look = () => seen.push({ total: find(".total").textContent, say: find(".say").textContent,
      line: find("[name=line]").ariaValueText, first: find("[name=first]").value,
      angles: [...figure.querySelectorAll("td")].map((cell) => cell.textContent) });
    const shown = () => [...figure.querySelectorAll(".lines [data-piece]")]
      .filter((piece) => piece.checkVisibility() && getComputedStyle(piece).visibility === "visible"
        && Number(getComputedStyle(piece).opacity) > 0.5)
      .sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
      .map((piece) => piece.dataset.piece).join(" ");
    const press = (key) => find("[name=line]").dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const begin = (first) => {
      find("[name=first]").value = first;
      find("[name=first]").dispatchEvent(new Event("input", { bubbles: true }));
    };
    document.querySelector("#" + figure.closest("section").id + " .prediction .plain").click();
    press("Home");
    for (let line = 0; line < 5; line++) {
      order.push(shown());
      for (const first of [3, 0]) {
        begin(first);
        look();
      }
      if (line % 2) press("ArrowRight");
      else find(".next").click();
      look();
    }
    document.body.textContent = JSON.stringify({ seen, order,
      stills: document.querySelectorAll(".derivation .still").length });
  });
]]

-- The sum of a line from the library, if the text begins at `first`, and the angles in degrees.
local function expected(line, first)
  local plane = roper.position.rope({ dim = 2, frequencies = { math.pi / 4 } })
  local values = roper.tensor({ { 3, 2 }, { 1, 3 }, { -1, 4 } }, "float64")
  local weights = roper.tensor({ { 0.5 }, { 0.3 }, { 0.2 } }, "float64")
  local list = {}
  for n = 0, 2 do
    list[n + 1] = line > 1 and first + n or 0
  end
  local sum = (weights * plane:rotate(values, list)):sum(1)
  return line > 2 and plane:unrotate(sum, first + 2) or sum
end

describe("the derivation as a line that changes", function()
  local document

  setup(function()
    scratch.create()
    page.write({ lessons.find("relative-distance") }, scratch.path("site"))
    document = scratch.read(scratch.path("site/relative-distance.html"))
  end)
  teardown(scratch.remove)

  it("shows the sums of the library in each line, wherever the text begins", function()
    local path, reason = browser.find()
    if not path then
      pending(reason)
      return
    end
    local found = core.json_decode((browser.load(path, document, HAND)
      :match("<body[^>]*>(.*)</body>")))
    for i, seen in ipairs(found.seen) do
      local line = tonumber(seen.line:match("^line (%d) of 5$"))
      local x, y = seen.total:gsub("−", "-"):match("= %((.-), (.-)%)$")
      local sum = expected(line, tonumber(seen.first))
      assert.near(sum[1]:item(), tonumber(x), 0.005 + 1e-9, i)
      assert.near(sum[2]:item(), tonumber(y), 0.005 + 1e-9, i)
      assert.equal(line == 2, seen.total:find("^ô") ~= nil)
    end
    local function said(line, number)
      return found.seen[3 * (line - 1) + number].say
    end
    for line = 1, 5 do
      local turns = said(line, 1):find("turns with the text", 1, true) ~= nil
      assert.equal(line == 2, turns, said(line, 1))
    end
    assert.truthy(said(1, 3):find("The sum moves by 1.69.", 1, true), said(1, 3))
    assert.truthy(said(2, 3):find("The sum moves by 2.36.", 1, true), said(2, 3))
    for line = 3, 4 do
      assert.truthy(said(line, 3):find("The sum stays where it is.", 1, true), said(line, 3))
    end
    assert.same({ "0°", "−90°", "−90°", "45°", "−90°", "−45°", "90°", "−90°", "0°" },
      found.seen[14].angles)
    assert.same({ "rope equals sum weight value", "hat equals sum weight forward value",
      "out equals back sum weight forward value", "out equals sum weight back forward value",
      "out equals sum weight both value" }, found.order)
  end)

  it("shows all lines with their pictures without scripts", function()
    local figure = document:match('<figure class="play derivation".-</figure>')
    assert.is_nil(figure:match("^[^>]*"):find("hidden", 1, true))
    local count = 0
    for item in figure:gmatch("<li>.-</li>") do
      count = count + 1
      assert.truthy(item:find('<svg aria-label="The sum ends at ', 1, true))
    end
    assert.equal(5, count)
  end)
end)
