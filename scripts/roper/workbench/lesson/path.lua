--- Ways through the lessons, for the map, and the plan of a class.
local tables = require "roper.base.tables"

local M = {}

---@class PlanRow
---@field [1] string a lesson
---@field steps (string|integer)[] the titles of its steps, or their numbers
---@field minutes integer
---@field does string prose: what the class does
---@field late? string prose: what to leave out if it is late
---@field saves? integer the minutes that this saves

--- The plan of a class of 90 minutes.
---@type PlanRow[]
M.CLASS = {
  { "ten-minutes", steps = { "The wish: scores that depend on distance" }, minutes = 8,
    does = [[Show the sentence that moves. Drag it, then pull one word away. Everyone writes down
      what stays and what changes, for each of the four methods. Compare with a neighbor.]] },
  { "ten-minutes", steps = { "First try: the position as a number",
      "Second try: binary digits", "Third try: waves, added" }, minutes = 14,
    does = [[Three tries at a better score. For each, everyone writes down an answer, then vote with
      hands, then show the figure. Who was wrong says what they thought.]],
    late = "Leave out the second try, the binary digits.", saves = 4 },
  { "rotation", steps = { "By hand, in degrees", "By position" }, minutes = 14,
    does = [[On paper, each alone: rotate $(2, 1)$ by 90 degrees and $(3, 4)$ by 180 degrees, and
      draw both. Then show the arrow that rotates with its position, and halve $θ$.]],
    late = "Leave out the last question, on a full turn.", saves = 3 },
  { "rotation", steps = { "Rotating back", "What a rotation leaves unchanged" }, minutes = 9,
    does = [[In pairs: one rotates both arrows and computes the dot product, the other rotates only
      one of them. Compare the two numbers. This is the whole idea of RoPE.]],
    late = "Leave out the first of the two steps and say its result: only the sines change sign.",
    saves = 4 },
  { "relative-score", steps = { "The goal", "The same with arrows" }, minutes = 14,
    does = [[Prove it together at the board: rotate both arrows back by $m$. Then everyone answers
      the questions, first alone, then in pairs. Ask in which direction the key is rotated.]],
    late = "Skip the line with complex numbers and the last question.", saves = 4 },
  { "relative-score", steps = { "Shift the text" }, minutes = 4,
    does = [[Vote, then move all tokens of the figure together. Choose "only queries" and move them
      again.]],
    late = "Leave it out: the proof says the same.", saves = 4 },
  { "relative-distance", steps = { "What RoPE omits", "Three values, rotated forward",
      "Added up and rotated back" }, minutes = 12,
    does = [[Ask what the output does not know yet, although the scores know all distances. Add up
      the three rotated values on the board, tip to tail, and rotate the sum back.]],
    late = "Show the last figure instead of drawing it.", saves = 4 },
  { "relative-distance", steps = { "The whole derivation in one line" }, minutes = 6,
    does = [[Vote on the question, then let the line change, one change at a time. Before each, ask
      what it does to the arrows.]],
    late = "Show all changes at once.", saves = 3 },
  { "relative-distance", steps = { "In the library, and the minus sign" }, minutes = 9,
    does = [[Everyone answers alone on the page for answers, saves it to a file and hands it in. End
      with the last question: why a difference needs one rotation forward and one back.]],
    late = "Leave the last two for homework: the page for answers keeps what was typed.",
    saves = 4 },
}

--- A plan with the numbers of its steps.
---
--- Errors: a lesson has no step with a title of the plan.
---@param rows PlanRow[]
---@param lessons table<string, table> by name
---@return PlanRow[]
function M.numbered(rows, lessons)
  return tables.map(rows, function(row)
    local numbers = {}
    for number, step in ipairs(lessons[row[1]].steps) do
      numbers[step.title], numbers[number] = number, number
    end
    return tables.merged(row, { steps = tables.map(row.steps, function(step)
      return numbers[step] or error(('lesson: %s has no step "%s"; change the plan in path.lua')
        :format(row[1], step), 0)
    end) })
  end)
end

--- The lessons of a plan, in its order.
---@param rows PlanRow[]
---@return string[] names
function M.lessons(rows)
  local names, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row[1]] then
      names[#names + 1], seen[row[1]] = row[1], true
    end
  end
  return names
end

--- The minutes of a plan.
---@param rows PlanRow[]
---@return integer
function M.minutes(rows)
  local sum = 0
  for _, row in ipairs(rows) do
    sum = sum + row.minutes
  end
  return sum
end

--- Minutes as a clock: "1:05".
---@param minutes integer
---@return string
function M.clock(minutes)
  return ("%d:%02d"):format(minutes // 60, minutes % 60)
end

--- A plan of all steps of one lesson. The minutes of a step are estimated like those of lessons:
--- its words, divided by 100, and one for each question.
---@param lesson table
---@return PlanRow[]
function M.of_lesson(lesson)
  return tables.map(lesson.steps, function(step, number)
    local text, count = step.text .. (step.code or ""), 0
    for _, question in ipairs(tables.joined(step.predict or {}, step.exercise or {})) do
      text, count = text .. " " .. question.question, count + 1
    end
    return { lesson.name, steps = { number }, minutes = math.max(1, count
      + math.floor(select(2, text:gsub("%S+", "")) / 100 + 0.5)),
      does = (step.predict or {})[1] and [[Everyone writes down an answer, then vote with hands,
        then show the figure or the output. Who was wrong says what they thought.]]
        or "Show it and explain it. Then everyone answers the questions below alone." }
  end)
end

--- Paths, each with a title, what to expect, and lessons.
M.PATHS = {
  { "Ten minutes", "Both methods, one line of algebra, ten lines of code.", { "ten-minutes" } },
  { "A class of 90 minutes", "One pair of numbers is enough: other pairs can wait.",
    M.lessons(M.CLASS) },
  { "The whole derivation", "Every line from sine and cosine to RoPER, and how it is checked.",
    { "ten-minutes", "why-position", "mask-and-waves", "rotation", "general-form",
      "relative-score", "why-rotation", "why-values", "relative-distance",
      "checking-identities" } },
}

return M
