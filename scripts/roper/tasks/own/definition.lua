--- Definitions of tasks in Lua, as `roper.tasks.register` takes them.
local options_of = require "roper.options.rows"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local words = require "roper.tasks.words"

local M = {}

local MEMBERS <const> = options_of.define("TaskDefinition", {
  { "vocabulary", "table", nil, "the tokens; an encoder takes the longest one that fits",
    type = "string[]" },
  { "generate", "function", nil, "returns the question and the answer of a problem, each a text or "
      .. "a list of tokens; or one value, a row of `length` tokens, whose first token is the "
      .. "question. All randomness must come from `random`",
    type = "fun(options: table, random: TaskRandom): string|string[], string|string[]?" },
  { "options", "table?", nil, "rows {name, kind, default, documentation}. `length`, the tokens in "
      .. "a row, and `seed` are added", type = "table[]" },
  { "stop", "string?", nil, "the token that ends every answer; needed if answers differ in length "
      .. "and must match exactly" },
  { "positions", "function?", nil, "returns the position of each token of a row, which must not "
      .. "depend on later tokens; by default its index",
    type = "fun(tokens: string[], options: table): number[]" },
  { "floor", "function?", nil, "returns the lowest possible mean loss, in nats per token; by "
      .. "default it is unknown", type = "fun(options: table): number" },
  { "grade", "function?", nil, "returns true if a text answers the question; by default, if it is "
      .. "the answer. `answer` is nil if it is not known",
    type = "fun(question: string, text: string, answer: string?, options: table): boolean" },
  { "answer", "function?", nil, "returns the answer to a question of this form, so that "
      .. "questions that users type can be graded",
    type = "fun(question: string, options: table): string" },
  { "longer", "any?", nil, "for longer problems: the options to multiply, or a function, as in "
      .. "ExperimentDefinition", type = "string[]|fun(config: table, times: number): table" },
  { "summary", "string?", nil, "one line, for lists" },
})

-- The kinds of options that a configuration, a flat table, can represent.
local KINDS <const> = { "integer", "size", "count", "number", "amount", "positive", "factor",
  "share", "probability", "boolean", "string" }

local SHORTEST <const>, LONGEST <const> = 2, 1 << 20 -- rows, in tokens
local LENGTH <const> = { "length", { smallest = SHORTEST, largest = LONGEST }, 129,
  "tokens in a row" }
local SEED <const> = { "seed", "integer", 1, "of the problems" }

-- Is a value a list of the type?
local function is_list_of(kind, value)
  if type(value) ~= "table" or #value ~= tables.count(value) then
    return false
  end
  for _, entry in ipairs(value) do
    if type(entry) ~= kind then
      return false
    end
  end
  return true
end

-- Describes the first problem of a vocabulary.
local function vocabulary_problem(list)
  if next(list) == nil then
    return "expected a list of strings, got an empty one"
  elseif not is_list_of("string", list) then
    for i, word in ipairs(list) do
      if type(word) ~= "string" then
        return ("expected a list of strings, got %s at index %d"):format(options_of.shown(word), i)
      end
    end
    return "expected a list of strings, got a table with other keys"
  end
  local seen = {}
  for i, word in ipairs(list) do
    if word == "" then
      return ("expected tokens that are not empty, got an empty one at index %d"):format(i)
    elseif seen[word] then
      return ("expected distinct tokens, got %q at the indices %d and %d"):format(word, seen[word],
        i)
    end
    seen[word] = i
  end
end

-- Describes the first problem of a row of an option.
local function row_problem(row)
  local name = row[1]
  if type(name) ~= "string" or not name:find "^%a[%w_]*$" then
    return "expected a name of letters, digits and _, got " .. options_of.shown(name)
  elseif name == "seed" then
    return "seed is added to every task; remove it"
  end
  local kind = row[2]
  local is_range = type(kind) == "table" and math.type(kind.smallest) == "integer"
    and math.type(kind.largest) == "integer"
  local is_choice = type(kind) == "table" and #kind > 0 and is_list_of("string", kind)
  local plain = type(kind) == "string" and kind:gsub("%?$", "")
  if not is_range and not is_choice and not tables.set(KINDS)[plain] then
    return ("%s: expected a kind: %s, {smallest = .., largest = ..}, or a list of choices, got %s")
      :format(name, table.concat(KINDS, ", "), options_of.shown(kind))
  elseif name == "length" and not (is_range and kind.smallest >= SHORTEST
    and kind.largest <= LONGEST) then
    return ("length: expected the kind {smallest = .., largest = ..} from %d to %d, got %s"):format(
      SHORTEST, LONGEST, is_range and ("{smallest = %d, largest = %d}"):format(kind.smallest,
        kind.largest) or options_of.shown(kind))
  end
  local refusal = row[3] ~= nil and options_of.refusal(kind, row[3])
  return refusal and ("%s: the default: %s"):format(name, refusal)
end

-- The rows of all options: `length` first, then the own ones, then `seed`.
local function all_rows(own)
  local rows, seen = { LENGTH }, { length = 1 }
  for i, row in ipairs(own) do
    local problem = type(row) ~= "table" and "expected rows {name, kind, default, documentation}"
      or row_problem(row)
    if problem then
      return nil, ("row %d: %s"):format(i, problem)
    elseif seen[row[1]] and row[1] ~= "length" then
      return nil, ("row %d: %s is the name of another row"):format(i, row[1])
    end
    local place = row[1] == "length" and 1 or #rows + 1
    rows[place], seen[row[1]] = { row[1], row[2], row[3], row[4] or "" }, place
  end
  rows[#rows + 1] = SEED
  return rows
end

--- Checks a definition.
---
--- Errors: a member is unknown, missing or of another type.
---@param name string of the task
---@param where string the start of messages
---@param given any
---@return table definition with name; where; rows: of all options; words: the tokenizer
function M.check(name, where, given)
  local function fail(text)
    error(("%s: %s"):format(where, text), 0)
  end
  if type(given) ~= "table" then
    fail("expected a table with vocabulary and generate, got " .. options_of.shown(given))
  end
  local ok, definition = pcall(options_of.check, "", given, MEMBERS, 0)
  if not ok then
    fail((definition:gsub("^: ", "")))
  end
  local problem = vocabulary_problem(definition.vocabulary)
  if problem then
    fail("vocabulary: " .. problem)
  end
  definition.name, definition.where = name, where
  definition.words = words.new(name, definition.vocabulary)
  if definition.stop and not definition.words.ids[definition.stop] then
    fail(("stop: expected a token of the vocabulary, got %q"):format(definition.stop))
  end
  definition.rows, problem = all_rows(definition.options or {})
  if problem then
    fail("options: " .. problem)
  end
  local names = tables.map(definition.rows, function(row)
    local kind = type(row[2]) == "string" and row[2]:gsub("%?$", "") or row[2]
    local is_number = type(kind) == "table" and kind.smallest
      or kind ~= "boolean" and kind ~= "string" and type(kind) == "string"
    return is_number and row[1] ~= "seed" and row[1] or nil
  end)
  local longer = definition.longer
  if longer ~= nil and type(longer) ~= "function" and not is_list_of("string", longer) then
    fail("longer: expected a list of options or a function, got " .. options_of.shown(longer))
  end
  for _, option in ipairs(type(longer) == "table" and longer or {}) do
    if not tables.set(names)[option] then
      fail(("longer: no option %q with a number%s"):format(option,
        suggest.hint(option, names, "there are")))
    end
  end
  return definition
end

return M
