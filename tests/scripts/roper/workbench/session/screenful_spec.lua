local output = require("tests.stdout")
local screenfuls = require("roper.workbench.session.screenful")
local terminal = require("roper.text.terminal")

describe("a screenful", function()
  local rows, columns = terminal.rows, terminal.columns

  -- The pages of a text on a terminal of 7 rows and 10 columns; the prompt takes one row.
  local function pages(...)
    local screen, list = screenfuls.new(), {}
    for _, text in ipairs({ ... }) do
      screen:add(text)
      list[#list + 1] = output.capture(screen.show, screen)
    end
    while screen:is_waiting() do
      screen:turn()
      list[#list + 1] = output.capture(screen.show, screen)
    end
    return list
  end

  before_each(function()
    terminal.rows = function() return 7 end
    terminal.columns = function() return 10 end
  end)
  after_each(function()
    terminal.rows, terminal.columns = rows, columns
  end)

  it("shows everything at once if it fits", function()
    assert.same({ "1\n2\n3\n4\n5\n6\n" }, pages("1\n2\n3\n4\n5\n6\n"))
    assert.same({ "1\n2\n", "3\n4\n5\n6\n" }, pages("1\n2\n", "3\n4\n5\n6\n"))
  end)

  it("ends between paragraphs", function()
    assert.same({ "1\n2\n", "3\n4\n5\n6\n" }, pages("1\n2\n\n3\n4\n5\n6\n"))
    assert.same({ "1\n2\n", "", "3\n4\n5\n6\n" }, pages("1\n2\n", "\n3\n4\n5\n6\n"))
  end)

  it("is filled if a paragraph is longer than the screen", function()
    assert.same({ "1\n2\n3\n4\n5\n6\n", "7\n" }, pages("1\n2\n3\n4\n5\n6\n7\n"))
    assert.same({ "1\n\n2\n3\n4\n5\n", "6\n7\n8\n" }, pages("1\n\n2\n3\n4\n5\n6\n7\n8\n"))
    assert.same({ "1\n2\n3\n", "4\n5\n6\n7\n8\n9\n", "10\n" },
      pages("1\n2\n3\n\n4\n5\n6\n7\n8\n9\n10\n"))
  end)

  it("counts the rows of long lines without escape sequences", function()
    local long, coloured = ("é"):rep(21), "\27[36m" .. ("x"):rep(10) .. "\27[0m"
    assert.same({ long .. "\n2\n3\n4\n", "5\n" }, pages(long .. "\n2\n3\n4\n5\n"))
    assert.same({ (coloured .. "\n"):rep(6) }, pages((coloured .. "\n"):rep(6)))
    local endless = ("x"):rep(100) .. "\n"
    assert.same({ endless, "1\n" }, pages(endless .. "1\n"))
    assert.same({ "\xFF\n" }, pages("\xFF\n"))
  end)
end)
