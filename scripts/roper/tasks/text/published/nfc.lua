--- Normalization form C of Unicode: a letter and its accents become one character where there is
--- one. The tables of characters are in `nfc_data`.
local data = require "roper.tasks.text.published.nfc_data"

local M = {}

-- Syllables of Hangul are composed by a formula (Unicode Standard, section 3.12): the first
-- syllable, leading consonant, vowel and final consonant, and the numbers of the last two and of
-- all syllables.
local SYLLABLE <const>, LEAD <const>, VOWEL <const>, TAIL <const> = 0xAC00, 0x1100, 0x1161, 0x11A7
local LEADS <const>, VOWELS <const>, TAILS <const> = 19, 21, 28
local SYLLABLES <const> = LEADS * VOWELS * TAILS

local decomposed, composed, classes = {}, {}, {} -- filled by `load`

local function key_of(first, second)
  return first << 32 | second
end

-- Reads the tables: "C0=41+300" for a character and its parts, "C0=41~" for one that is never
-- composed, and "300-314:230" for the combining class of a range.
local function load()
  for char, parts in data.decompositions:gmatch "(%x+)=(%S+)" do
    local list = {}
    for part in parts:gmatch "%x+" do
      list[#list + 1] = tonumber(part, 16)
    end
    char = tonumber(char, 16)
    decomposed[char] = list
    if list[2] and not parts:find "~" then
      composed[key_of(list[1], list[2])] = char
    end
  end
  for first, last, class in data.classes:gmatch "(%x+)%-(%x+):(%d+)" do
    for char = tonumber(first, 16), tonumber(last, 16) do
      classes[char] = math.tointeger(class)
    end
  end
end

-- Appends the parts of a character that cannot be divided.
local function add_parts(list, char)
  local index, parts = char - SYLLABLE, decomposed[char]
  if index >= 0 and index < SYLLABLES then
    list[#list + 1] = LEAD + index // (VOWELS * TAILS)
    list[#list + 1] = VOWEL + index % (VOWELS * TAILS) // TAILS
    list[#list + 1] = index % TAILS > 0 and TAIL + index % TAILS or nil
  elseif parts then
    for _, part in ipairs(parts) do
      add_parts(list, part)
    end
  else
    list[#list + 1] = char
  end
end

-- Sorts runs of combining characters by their class, in a stable way.
local function sort(list)
  for i = 2, #list do
    local char, class, at = list[i], classes[list[i]], i
    while class and at > 1 and (classes[list[at - 1]] or 0) > class do
      list[at], at = list[at - 1], at - 1
    end
    list[at] = char
  end
end

-- The character of two; nil if there is none.
local function pair_of(first, second)
  local lead, vowel = first - LEAD, second - VOWEL
  if lead >= 0 and lead < LEADS and vowel >= 0 and vowel < VOWELS then
    return SYLLABLE + (lead * VOWELS + vowel) * TAILS
  end
  local index, tail = first - SYLLABLE, second - TAIL
  if index >= 0 and index < SYLLABLES and index % TAILS == 0 and tail > 0 and tail < TAILS then
    return first + tail
  end
  return composed[key_of(first, second)]
end

-- Composes characters with the last one before them that does not combine, unless one between the
-- two blocks it.
local function compose(list)
  local result, starter, last_class = {}, nil, 0
  for _, char in ipairs(list) do
    local class = classes[char] or 0
    local is_near = starter and (#result == starter or last_class < class)
    local pair = is_near and pair_of(result[starter], char)
    if pair then
      result[starter] = pair
    else
      result[#result + 1] = char
      starter = class == 0 and #result or starter
      last_class = class
    end
  end
  return result
end

--- The normalization form C of a text in UTF-8.
---@param text string
---@return string text
function M.composed(text)
  if not text:find "[\204-\244]" then -- no character from U+0300 on
    return text
  elseif not next(decomposed) then
    load()
  end
  local list = {}
  for _, char in utf8.codes(text) do
    add_parts(list, char)
  end
  sort(list)
  list = compose(list)
  local parts = {}
  for i = 1, #list, 128 do
    parts[#parts + 1] = utf8.char(table.unpack(list, i, math.min(i + 127, #list)))
  end
  return table.concat(parts)
end

return M
