local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

describe("a lesson at the terminal", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- Starts a lesson on a terminal that is high enough to show each step without paging.
  local function start(name, environment)
    return process.open("stty rows 200; ./roper lesson " .. name,
      environment or sessions.newcomer())
  end

  -- Three steps; the first ends with an open question, which no line answers.
  local PLAIN <const> = [[return roper.lesson { order = 1, title = "Plain words", before = "b",
    after = "a", needs = {}, notation = { { "R_m", "the turn by position $m$" } }, steps = {
      { title = "Count", text = "Words.", code = "x = 6 * 7\nrow = {x, 5}",
        claims = { { "x == 42", instead = { "6", "7" } } },
        exercise = { question = "Why?", answer = "Because." } },
      { title = "Count on", text = "Words.", code = "row[1] = 1", claims = {
        { "row[1] == 1", instead = { "= 1", "= 2" } } } },
      { title = "Rest", text = "Words." } } }
  ]]

  local plain -- path of the lesson

  before_each(function()
    plain = scratch.write("plain.lua", PLAIN)
  end)

  -- Enters a line, and waits for its output and the prompt of a step.
  local function enter(screen, text, shown, step)
    screen:type(text .. "\r")
    screen:expect(shown)
    screen:expect(("plain %d/3> "):format(step))
  end

  it("accepts Enter, back and again, and runs Lua in between", function()
    local screen = start(plain)
    screen:expect("Plain words\n")
    screen:expect("Press Enter to continue.")
    screen:expect("1/3  Count\n")
    screen:expect("✓ x == 42")
    screen:expect("Try it. Why?")
    screen:expect("plain 1/3> ")
    enter(screen, "answer", "Because.\n", 1)
    enter(screen, "notation", "Rₘ  the turn by position m", 1)
    enter(screen, "row[2] + x", "47\n", 1)
    screen:type("x = 'changed'\r")
    screen:expect("plain 1/3> ")
    enter(screen, "", "2/3  Count on\n", 2)
    enter(screen, "answer", "This step has no question.\n", 2)
    enter(screen, "row[1]", "1\n", 2)
    enter(screen, "x", '"changed"\n', 2) -- Enter does not run the code again
    enter(screen, "again", "2/3  Count on\n", 2)
    enter(screen, "x", "42\n", 2)
    enter(screen, "back", "1/3  Count\n", 1)
    enter(screen, "row[1]", "42\n", 1)
    screen:type("x, again = 'changed', 'mine'\r")
    screen:expect("plain 1/3> ")
    enter(screen, "again", '"mine"\n', 1) -- the variable, not the command
    enter(screen, "%answer", "Because.\n", 1)
    enter(screen, "%again", "1/3  Count\n", 1)
    enter(screen, "x", "42\n", 1)
    screen:type("quit\r")
    assert.equal(0, screen:leave())
  end)

  it("runs statements of several lines, reports errors, and is interrupted by Ctrl-C", function()
    local home = sessions.newcomer()
    local screen = start(plain, home)
    screen:expect("plain 1/3> ")
    screen:type("for i = 1, 2 do\r")
    screen:expect(">> ")
    enter(screen, "print(i) end", "1\n2\n", 1)
    enter(screen, "nothing.at_all", 'error: undefined variable "nothing"', 1)
    screen:type("do print('running') while true do end end\r")
    screen:expect("\nrunning\n")
    screen:type("\3")
    screen:expect("interrupted\n")
    screen:expect("plain 1/3> ")
    screen:type("half a line")
    screen:expect("half a line")
    screen:type("\3")
    screen:expect("plain 1/3> ")
    enter(screen, "", "Answer it on paper; Enter again shows the answer.\n", 1)
    enter(screen, "", "Answer. Because.\n", 1)
    enter(screen, "", "2/3  Count on\n", 2)
    screen:type("\4")
    screen:expect(("To continue this lesson:\n./roper lesson %s 2\n"):format(plain))
    assert.equal(0, screen:leave())
    screen = start(plain .. " 2", home)
    screen:expect("2/3  Count on\n")
    enter(screen, "x", "42\n", 2) -- set in the step before
    screen:type("\4")
    assert.equal(0, screen:leave())
  end)

  it("ends after the last step and names the next lesson", function()
    local screen = start("precision 3")
    screen:expect("precision 3/3")
    repeat -- past every question
      screen:type("\r")
    until not pcall(screen.expect, screen, "precision 3/3")
    screen:expect("The end of precision. Next: ./roper lesson attentive-convolution\n")
    assert.equal(0, screen:leave())
  end)

  -- Two steps with questions, one of each kind.
  local ASKING <const> = [[return roper.lesson { order = 1, title = "Asking", before = "b",
    after = "a", steps = {
      { title = "Choose", text = "Words.", code = "x = 6 * 7\nx",
        predict = { { question = "Where to?", choices = { "left", "right" }, expect = 2,
          answer = "To the right.", hints = { { "it == 1", "The other hand." }, "Look." } },
          { question = "How much?", expect = "x", answer = "Six times seven.",
            hints = { { "it == 13", "Times, not plus." }, "First hint.", "Second hint." } } } },
      { title = "Do", text = "Other words.", identity = { "cos(m) == cos(-m)",
          given = { m = "position" } },
        exercise = { { question = "Set y.", check = "y == x", sample = "y = 42",
          answer = "As x.", hints = { "y is not x." } },
          { question = "Why?", answer = "Because." } } } } }
  ]]

  -- Enters a line, and waits for its output and the prompt.
  local function say(screen, text, shown, prompt)
    screen:type(text .. "\r")
    local before = screen:expect(shown)
    return before .. screen:expect(prompt)
  end

  it("asks first, judges answers, gives hints, and continues where the user left off", function()
    local path = scratch.write("asking.lua", ASKING)
    local home = sessions.newcomer()
    local screen = start(path, home)
    local before = screen:expect("Predict first. Where to?\n  a) left\n  b) right\n")
    assert.is_nil(before:find("x = 6", 1, true))
    screen:expect("asking 1/2 ?> ")
    say(screen, "a", "Not yet. The other hand.\n", "asking 1/2 ?> ")
    say(screen, "3", "The question expects a number from 1 to 2, or a", "asking 1/2 ?> ")
    say(screen, "> 'only ' .. 'tried'", '"only tried"\n', "asking 1/2 ?> ")
    say(screen, "2 + 2", "4\nNot taken as an answer. The question expects a number from 1 to 2, or "
      .. "a letter\nfrom a to b.\n", "asking 1/2 ?> ")
    local after = say(screen, "b", "Right. b) To the right.\n\nPredict first. How much?\n",
      "asking 1/2 ?> ")
    assert.is_nil(after:find("x = 6", 1, true))
    say(screen, "setmetatable({}, {__tostring = function() error('no text') end})",
      "error: no text\n", "asking 1/2 ?> ")
    say(screen, "hint", "First hint.\n", "asking 1/2 ?> ")
    say(screen, "13", "Not yet. Times, not plus.\n", "asking 1/2 ?> ")
    say(screen, "14", "Not yet. Second hint.\n", "asking 1/2 ?> ")
    say(screen, "hint()", "There are no more hints. Type answer to", "asking 1/2 ?> ")
    say(screen, "Help", "Press Enter to continue.", "asking 1/2 ?> ")
    say(screen, "2 *", "", ">> ")
    say(screen, "", "The question expects one number, such as 0.5 or math.cos(1).\n",
      "asking 1/2 ?> ")
    say(screen, "look", "Answer the question first", "asking 1/2 ?> ")
    screen:type("quit\r")
    screen:expect(("To continue this lesson:\n./roper lesson %s 1\n"):format(path))
    assert.equal(0, screen:leave())

    screen = start(path, home) -- the first question was answered, the second was not
    screen:expect("You answered this before. b) To the right.\n")
    screen:expect("Predict first. How much?\n")
    screen:expect("asking 1/2 ?> ")
    say(screen, "6 *", "", ">> ")
    say(screen, "7.05", "Right, 42. Six times seven.\n\n> x = 6 * 7\n> x\n42\n", "asking 1/2> ")
    say(screen, "", "2/2  Do\n", "Try it. Set y.\n")
    screen:expect("asking 2/2 ?> ")
    say(screen, "y = 41", "Not yet. y is not x.\n", "asking 2/2 ?> ")
    -- A wrong answer leaves no variables.
    say(screen, "> y", 'undefined variable "y"\n', "asking 2/2 ?> ")
    screen:type("\4")
    screen:expect(("To continue this lesson:\n./roper lesson %s 2\n"):format(path))
    assert.equal(0, screen:leave())

    screen = start(path, home)
    screen:expect(("Continuing at step 2, where you left off. To start over:\n./roper lesson %s "
      .. "1\n"):format(path))
    before = screen:expect("Try it. Set y.\n")
    assert.is_nil(before:find("1/2  Choose", 1, true))
    assert.is_nil(before:find("random tensors", 1, true))
    screen:expect("asking 2/2 ?> ")
    say(screen, "look", "Residuals on random tensors:\n", "asking 2/2 ?> ")
    say(screen, "x", "42\nNot yet. y is not x.\n", "asking 2/2 ?> ")
    say(screen, "y = x", "Right. As x.\n\nTry it. Why?\n", "asking 2/2> ")
    say(screen, "y", "42\n", "asking 2/2> ")
    say(screen, "answer", "Answer. Because.\n", "asking 2/2> ")
    screen:type("\r")
    screen:expect("You answered 3 of 3 questions.\nThe end of asking.\n")
    assert.equal(0, screen:leave())

    screen = start(path, home)
    screen:expect("You finished this lesson before. It starts again at step 1.\n")
    screen:expect("Predict first. Where to?\n")
    screen:expect("asking 1/2 ?> ")
    screen:type("\4")
    assert.equal(0, screen:leave())

    screen = start(path .. " 1", home) -- starts over
    screen:expect("Predict first. Where to?\n")
    screen:expect("asking 1/2 ?> ")
    local invited = "Type a number from 1 to 2, or a letter from a to b; Enter again shows the\n"
      .. "answer.\n"
    say(screen, "", invited, "asking 1/2 ?> ")
    say(screen, "a", "Not yet. The other hand.\n", "asking 1/2 ?> ")
    say(screen, "", invited, "asking 1/2 ?> ") -- not the answer: a line came between
    say(screen, "", "Answer. b) To the right.\n\nPredict first. How much?\n", "asking 1/2 ?> ")
    say(screen, "", "Type one number, such as 0.5 or math.cos(1); Enter again shows the answer.\n",
      "asking 1/2 ?> ")
    say(screen, "hint", "First hint.\n", "asking 1/2 ?> ")
    say(screen, "answer", "Answer. Six times seven.\n\n> x = 6 * 7\n", "asking 1/2> ")
    say(screen, "", "2/2  Do\n", "asking 2/2 ?> ")
    say(screen, "", "Type a line of Lua; Enter again shows the answer.\n", "asking 2/2 ?> ")
    say(screen, "", "Answer. As x.\n\nTry it. Why?\n", "asking 2/2> ")
    say(screen, "again", "2/2  Do\n", "asking 2/2 ?> ")
    screen:type("\4")
    assert.equal(0, screen:leave())
  end)

  it("lets predictions use no variables of code that is not shown yet", function()
    local path = scratch.write("asking.lua", ASKING)
    local screen = start(path)
    screen:expect("asking 1/2 ?> ")
    say(screen, "b", "Right. b) To the right.\n", "asking 1/2 ?> ")
    for _ = 1, 2 do -- the first time, the code has not run yet
      say(screen, "x", "The question expects one number", "asking 1/2 ?> ")
      say(screen, "> x", 'undefined variable "x"\n', "asking 1/2 ?> ")
      say(screen, "41", "Not yet.", "asking 1/2 ?> ")
    end
    say(screen, "> y = 5", "", "asking 1/2 ?> ")
    say(screen, "42", "> x = 6 * 7\n", "asking 1/2> ")
    say(screen, "x + y", "47\n", "asking 1/2> ")
    say(screen, "again", "1/2  Choose\n", "asking 1/2 ?> ")
    say(screen, "> x", "nil\n", "asking 1/2 ?> ")
    say(screen, "> y", "5\n", "asking 1/2 ?> ")
    screen:type("\4")
    assert.equal(0, screen:leave())
  end)

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

  it("continues at the recorded step even if it was finished once", function()
    local home = sessions.newcomer()
    local folder = home.HOME .. "/.local/state/roper"
    require("roper.base.file").make(folder)
    require("roper.base.file").write(folder .. "/lessons.json",
      [[{"lessons": {"rotation": {"step": 3, "answered": [], "done": true}}}]])
    local screen = start("rotation", home)
    screen:expect("Continuing at step 3, where you left off.")
    screen:expect("rotation 3/")
    screen:type("\4")
    assert.equal(0, screen:leave())
  end)

  it("reports a question that it cannot judge, and does not finish the lesson", function()
    local path = scratch.write("unfit.lua", [[return roper.lesson { order = 1, title = "Unfit",
      before = "b", after = "a", steps = { { title = "one", text = "w", predict = {
        question = "Q?", expect = "nothing", answer = "A.", hints = { "H." } } } } }]])
    local screen = start(path)
    screen:expect("unfit 1/1 ?> ")
    say(screen, "5", ("lesson: %s:3: step 1, predict, expect: expected a number, got nil\n")
      :format(path), "unfit 1/1> ")
    say(screen, "5", "5\n", "unfit 1/1> ")
    screen:type("quit\r")
    screen:expect("To continue this lesson:\n")
    assert.equal(0, screen:leave())
  end)

  it("reports once that progress cannot be saved, and continues", function()
    local path = scratch.write("asking.lua", ASKING)
    local home = sessions.newcomer({ XDG_STATE_HOME = "/proc/none" })
    local screen = start(path, home)
    local shown = screen:expect("asking 1/2 ?> ")
    assert.truthy(shown:find("progress is not saved: cannot make the folder /proc/none", 1, true))
    shown = say(screen, "b", "Right.", "asking 1/2 ?> ")
    shown = shown .. say(screen, "42", "Right.", "asking 1/2> ")
      .. say(screen, "", "2/2  Do", "?> ")
    assert.is_nil(shown:find("not saved", 1, true))
    screen:type("\4")
    assert.equal(0, screen:leave())

    home = sessions.newcomer()
    local kept = home.HOME .. "/.local/state/roper/lessons.json"
    require("roper.base.file").make(home.HOME .. "/.local/state/roper")
    require("roper.base.file").write(kept, "damaged")
    screen = start(path, home)
    shown = screen:expect("asking 1/2 ?> ")
    assert.truthy(shown:find(("progress is not saved: %s is damaged"):format(kept), 1, true), shown)
    shown = say(screen, "b", "Right.", "asking 1/2 ?> ")
    assert.is_nil(shown:find("not saved", 1, true))
    screen:type("\4")
    assert.equal(0, screen:leave())
    assert.equal("damaged", scratch.read(kept))
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
