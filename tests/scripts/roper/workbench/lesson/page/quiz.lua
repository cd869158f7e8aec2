-- The specs of questions on pages; page_spec makes the pages.

local assert = require("luassert")
local browser = require("tests.browser")
local core = require("roper.core")
local forms = require("roper.workbench.lesson.form")
local questions = require("roper.workbench.lesson.question")
local quiz = require("roper.workbench.lesson.quiz")
local steps = require("roper.workbench.lesson.step")

-- Gives the answers in `asked`, a list of {id, answers}, and lists the responses: "right", "hint N"
-- for the N-th hint, or what is said instead.
local ANSWER <const> = [[
  addEventListener("load", () => {
    const lines = [];
    for (const { id, answers } of asked) {
      const question = document.getElementById(id);
      const hints = [...question.querySelectorAll(".hints > li")].map((hint) =>
        "Not yet. " + hint.textContent);
      for (const answer of answers) {
        if (question.dataset.kind === "choice") {
          question.querySelectorAll(".choices button")[answer - 1].click();
        } else if (question.dataset.kind === "form") {
          question.querySelectorAll("select").forEach((menu, i) => { menu.value = answer[i]; });
          question.querySelector("form").requestSubmit();
        } else {
          question.querySelector("input").value = answer;
          question.querySelector("form").requestSubmit();
        }
        const text = question.querySelector(".status").textContent;
        const read = text.match(/^Read as .*?\. (?=Not yet|Right)/)?.[0] ?? "";
        const said = text.slice(read.length);
        const hint = hints.indexOf(said) + 1;
        const is_right = question.dataset.state === "right" && said.startsWith("Right")
          && question.querySelector("details.answer").open;
        const word = is_right ? "right" : hint ? "hint " + hint : said;
        lines.push(`${id} ${answer} -> ${read}${word}`);
        question.querySelector("details.answer").open = false;
      }
    }
    document.body.textContent = lines.join("\n") + "\n";
  });
]]

-- Answers to a question: the right one, those that its hints mention, and some others.
local function answers_to(question, right)
  local list = {}
  if question.kind == "choice" then
    for i in ipairs(question.choices) do
      list[i] = i
    end
    return list
  elseif question.form then
    local first, second = question.form[2], question.form[3] or { "" }
    for i = 1, #first * #second do
      local way = { (i - 1) // #second + 1, question.form[3] and (i - 1) % #second + 1 }
      list[i] = core.json_array(way)
    end
    list[#list + 1] = core.json_array({ "", question.form[3] and 1 })
    return list
  end
  list = { ("%.17g"):format(right), "12345.678", "-1/0", "0/0", "word", "1 +",
    "0,5", "1,000", "cos(60)", "cos 60°", "√2/2", "45°", "25%", "2 rad", "max(1,2)",
    ("%.17g"):format(right):gsub("%.", ",") .. "", "2 ^ 3 ^ 0.5 % 7 // 2", "-2 ^ 2",
    "math.max(1, 2)", "1e-3", "0x10", "not 1", "{1}", "" }
  for _, hint in ipairs(question.conditions) do
    for number in hint[1]:gmatch "%-?%f[%w.]%d[%w.]*" do
      list[#list + 1] = number
    end
    list[#list + 1] = hint[1]:match "it %- (math%..-)%) <"
  end
  return list
end

-- The response of the terminal, in the words of ANSWER. Hints without a condition come in turn.
local function response(question, answer, scope, expected, tries)
  if question.form and answer[1] == "" then
    return "Choose something for each blank.", tries
  end
  local line = question.kind == "choice" and questions.letter(answer) or question.form
    and forms.line(question.form, { question.form[2][answer[1]],
      question.form[3] and question.form[3][answer[2]] }) or answer
  local verdict = questions.judge(question, line, steps.layer(scope), expected)
  local read = verdict.read and ("Read as %s. "):format(verdict.read) or ""
  if verdict.kind == "right" then
    return read .. "right", tries
  elseif verdict.kind ~= "wrong" then
    return ("The question expects %s."):format(questions.wanted(question)), tries
  end
  for i, hint in ipairs(question.conditions) do
    if hint[2] == verdict.hint then
      return read .. "hint " .. i, tries
    end
  end
  tries = math.min(tries + 1, #question.further)
  return ("%shint %d"):format(read, #question.conditions + tries), tries
end

local asked, expected = {}, {} -- by lesson: input of ANSWER, and the responses of the terminal

-- Collects the answers to a question that a page shows, with the terminal's responses.
local function collect(question, where, scope)
  local right, tries = questions.expected(question, scope), 0
  local answers, lines = answers_to(question, right), expected[where.lesson] or {}
  asked[where.lesson] = asked[where.lesson] or {}
  table.insert(asked[where.lesson], { id = where.id, answers = core.json_array(answers) })
  expected[where.lesson] = lines
  for _, answer in ipairs(answers) do
    local word
    word, tries = response(question, answer, scope, right, tries)
    lines[#lines + 1] = ("%s %s -> %s\n"):format(where.id, question.form
      and table.concat(answer, ",") or answer, word)
  end
end

local M = {}

--- Runs a function, and collects the questions of the pages that it writes.
---@param write fun()
function M.collecting(write)
  local shown = quiz.question
  quiz.question = function(question, where, scope, ...)
    if quiz.is_checked(question) then
      collect(question, where, scope)
    end
    return shown(question, where, scope, ...)
  end
  write()
  quiz.question = shown
end

--- Tests of the questions on pages.
---@param read fun(name: string): string the page of a lesson
function M.specify(read)
  browser.it("respond like the terminal to every answer that a lesson lists", function(path)
    local pages, names = {}, {}
    for name, list in pairs(asked) do
      names[#names + 1] = name
      pages[#names] = { read(name), ("const asked = %s;"):format(core.json_encode(
        core.json_array(list))) .. ANSWER }
    end
    assert.is_true(#names >= 14)
    local rights = 0
    for i, document in ipairs(browser.load_all(path, pages)) do
      local body = document:match("<body[^>]*>(.*)</body>"):gsub("&lt;", "<"):gsub("&gt;", ">")
      local given = body:gmatch("[^\n]*\n")
      for _, line in ipairs(expected[names[i]]) do
        assert.equal(line, given(), names[i])
      end
      assert.is_nil(given())
      rights = rights + select(2, body:gsub("%-> right\n", ""))
    end
    assert.is_true(rights >= 80, rights)
  end)

  browser.it("let the browser remember answers until they are forgotten", function(path)
    local text = read("rotation")
    local function load(script)
      return browser.load(path, text, script)
    end
    local answered = load([[addEventListener("load", () => {
      localStorage.clear();
      const question = document.getElementById("question-1-1");
      question.querySelector("input").value = "-1";
      question.querySelector("form").requestSubmit();
    });]])
    assert.truthy(answered:find(">1 of %d+ questions answered%. <button"))
    assert.truthy(answered:find('data%-state="right".-<p class="status"[^>]*><b>Right%.'))
    local forgotten = load([[addEventListener("load", () => {
      const found = document.querySelector("[data-state=right]").id;
      document.title = "was " + document.querySelector(".progress").textContent + found;
      document.querySelector(".progress button").click();
    });]])
    assert.truthy(forgotten:find("<title>was 1 of %d+ questions[^<]*question%-1%-1</title>"))
    assert.is_nil(forgotten:find(">[1-9]%d* of %d+ questions"))
    assert.is_nil(forgotten:find('data-state="', 1, true))
  end)
end

return M
