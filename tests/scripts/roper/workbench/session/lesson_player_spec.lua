local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

-- Other tests of lessons are transcripts: tests/transcripts/lesson.
describe("a lesson at the terminal", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- Starts a lesson on a terminal that is high enough to show each step without paging.
  local function start(name, environment)
    return process.open("stty rows 200; ./roper lesson " .. name,
      environment or sessions.newcomer())
  end

  -- Enters a line, and waits for its output and the prompt.
  local function say(screen, text, shown, prompt)
    screen:type(text .. "\r")
    local before = screen:expect(shown)
    return before .. screen:expect(prompt)
  end

  -- A lesson whose code prints a line and computes until a file exists, before it asks.
  local function slow(print_line)
    local marker = scratch.path("marker")
    os.remove(marker)
    return scratch.write("slow.lua", ([[return roper.lesson { order = 1, title = "Slow",
      before = "b", after = "a", steps = { { title = "Compute", text = "w", code = %q,
        exercise = { question = "Which?", choices = { "left", "right" }, expect = 2,
          answer = "Right of it.", hints = { "Look." } } } } }]]):format(
      ("%s while not io.open(%q) do end"):format(print_line, marker))), marker
  end

  it("discards keys that were typed before a question is shown", function()
    local path, marker = slow("io.stdout:write('started\\n'):flush()")
    local screen = start(path)
    screen:expect("started\n")
    screen:type("a\r\r\rb")
    screen:expect("a\n\n\nb") -- the terminal has them
    scratch.write("marker", "")
    local shown = screen:expect("slow 1/1 ?> ")
    assert.truthy(shown:find("Try it. Which?\n", 1, true), shown)
    say(screen, "", "Type a number from 1 to 2", "slow 1/1 ?> ")
    shown = say(screen, "b", "Right. b) Right of it.\n", "slow 1/1> ")
    assert.is_nil(shown:find("Not yet", 1, true), shown)
    screen:type("\4")
    assert.equal(0, screen:leave())
    os.remove(marker)
  end)

  it("says that code takes long, and continues after Ctrl-C", function()
    local path, marker = slow("")
    local screen = start(path)
    screen:expect("Computing, a few seconds …")
    screen:type("\3")
    screen:expect("lesson: interrupted; type again to repeat this step\n")
    screen:expect("slow 1/1> ")
    screen:type("again\r")
    screen:expect("Computing, a few seconds …")
    scratch.write("marker", "")
    screen:expect("Try it. Which?\n")
    screen:expect("slow 1/1 ?> ")
    screen:type("\4")
    assert.equal(0, screen:leave())
    os.remove(marker)
  end)

  it("accepts commands while text waits, and discards the text when it leaves the step", function()
    local path = scratch.write("long.lua", ([[return roper.lesson { order = 1, title = "Long",
      before = "b", after = "a", steps = { { title = "one", text = "w", code = %q,
      identity = { "cos(m) == cos(-m)", given = { m = "position" } } } } }]]):format(
      ("1\n"):rep(30)))
    local screen = process.open("stty rows 24 cols 80; ./roper lesson " .. path,
      sessions.newcomer())
    screen:expect("-- more -- long 1/1> ")
    say(screen, "notation", "notation\nThis lesson has no table of notation.\n-- more --",
      "> ")
    say(screen, "look", "look\n  cos(m) == cos(-m)\n", "-- more -- long 1/1> ")
    say(screen, "again", "again\n1/1  one\n", "-- more -- long 1/1> ")
    screen:type("\4")
    assert.equal(0, screen:leave())
  end)

  it("shows one screenful at a time", function()
    local screen = process.open("stty rows 24 cols 80; ./roper lesson general-form",
      sessions.newcomer())
    local pages, shown = 0
    repeat -- Enter alone: past questions, too
      shown = screen:expect("general-form 1/") .. screen:expect("> ")
      pages = pages + 1
      assert.is_true(select(2, shown:gsub("\n", "")) <= 24, shown)
      screen:type("\r")
    until pages > 20 or shown:find("Try it.", 1, true)
    assert.is_true(pages > 1 and pages <= 20)
    screen:expect("general-form ")
    screen:type("\4")
    assert.equal(0, screen:leave())
  end)

  it("continues a lesson from the user's own file, and names no next lesson", function()
    local path = scratch.write("mine.lua", [[return roper.lesson { order = 1, title = "t",
      before = "b", after = "a", steps = { { title = "one", text = "w", code = "x = given" },
        { title = "two", text = "w" } } }]])
    local given = scratch.write("given.lua", "given = 5")
    local screen = start(path .. " --load " .. given)
    screen:expect("mine 1/2> ")
    screen:type("\4")
    screen:expect(("./roper lesson %s 1 --load %s\n"):format(path, given))
    assert.equal(0, screen:leave())
    screen = start(path .. " 2 --load " .. given)
    screen:expect("mine 2/2> ")
    screen:type("x\r")
    screen:expect("5\n")
    screen:expect("mine 2/2> ")
    screen:type("\r")
    screen:expect("The end of mine.\n")
    assert.equal(0, screen:leave())
  end)
end)
