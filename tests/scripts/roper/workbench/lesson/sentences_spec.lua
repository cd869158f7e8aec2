local lessons = require("roper.workbench.lesson")
local sentences = require("roper.workbench.lesson.sentences")

require("roper")

local function texts(text)
  local list = {}
  for i, part in ipairs(sentences.parts(text)) do
    list[i] = part.text
  end
  return list
end

local LONG <const> = "W" .. ("ord "):rep(29) .. "end."

describe("parts of a text", function()
  it("are whole sentences, about equally long", function()
    assert.same({ "One. Two words. Why $a b$?" }, texts("One. Two words.\nWhy $a b$?"))
    assert.same({ LONG, LONG }, texts(LONG .. " " .. LONG))
    assert.same({ LONG .. " More.", LONG }, texts(LONG .. " More. " .. LONG))
    assert.same({ "One.\n\nTwo." }, texts("One.\n\n  Two.\n"))
    assert.same({ LONG .. "\n\nLast." }, texts(LONG .. "\n\nLast."))
  end)

  it("keep a sentence that is longer than 40 words", function()
    local longer = "W" .. ("ord "):rep(50) .. "end."
    assert.same({ "First.", longer, "Last." }, texts("First. " .. longer .. " Last."))
  end)

  it("end neither in a formula, code or link nor before a number", function()
    local words = ("word "):rep(33)
    for _, whole in ipairs({ "`a. B c. D`", "$a. B$", "[Su et al. Two](arXiv:2104.09864)",
      "eq. 13", "a. small" }) do
      local text = "A " .. words .. whole .. " and so on, for a few words more than before."
      assert.same({ text }, texts(text))
    end
  end)

  it("have their whole paragraphs", function()
    local parts = sentences.parts(LONG .. " " .. LONG .. "\n\nLast.")
    assert.equal(LONG .. " " .. LONG, parts[1].whole)
    assert.equal(LONG .. " " .. LONG .. "\n\nLast.", parts[2].whole)
  end)

  it("of all lessons are their texts, word by word", function()
    for _, lesson in ipairs(lessons.all()) do
      for _, step in ipairs(lesson.steps) do
        assert.equal(step.text:gsub("%s+", ""), table.concat(texts(step.text)):gsub("%s+", ""))
      end
    end
  end)
end)
