--- Splits prose at the ends of sentences, so that no part is long and nothing is left out.
local M = {}

local MOST_WORDS <const> = 40 -- of a part, unless one sentence is longer

-- What no end of a sentence is in: code, formulas and links.
local WHOLE <const> = { "`[^`]*`", "%$[^%s$][^$]*%$", "%[[^%]]+%]%(%a+:[^)]*%)" }

local function count_words(text)
  local words = text:gsub("%$[^$]*%$", "x"):gsub("%]%(.-%)", "]")
  return select(2, words:gsub("%S+", ""))
end

-- The sentences of a paragraph.
local function sentences_of(paragraph)
  local kept = {}
  local text = paragraph:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")
  for _, pattern in ipairs(WHOLE) do
    text = text:gsub(pattern, function(whole)
      kept[#kept + 1] = whole
      return ("\1%d\2"):format(#kept)
    end)
  end
  local function restored(sentence)
    local count
    repeat
      sentence, count = sentence:gsub("\1(%d+)\2", function(i) return kept[tonumber(i)] end)
    until count == 0
    return sentence
  end
  local list = {}
  for sentence in (text:gsub("([.?!][)\"']*) ([^%l%d])", "%1\n%2") .. "\n"):gmatch "(.-)\n" do
    list[#list + 1] = restored(sentence)
  end
  return list
end

-- Parts of at most `most` words each, from sentences {text, paragraph}.
local function packed(sentences, most)
  local made, words = {}, math.huge
  for _, sentence in ipairs(sentences) do
    words = words + count_words(sentence[1])
    if words > most then
      made[#made + 1], words = {}, count_words(sentence[1])
    end
    table.insert(made[#made], sentence)
  end
  return made
end

-- Joins the sentences of a part; an empty line is between paragraphs.
local function joined(sentences)
  local text, last = "", nil
  for _, sentence in ipairs(sentences) do
    text = text .. (not last and "" or last == sentence[2] and " " or "\n\n") .. sentence[1]
    last = sentence[2]
  end
  return text
end

--- Splits a text into parts of about the same length, with at most 40 words each, unless a sentence
--- is longer.
---@param text string prose, paragraphs separated by empty lines
---@return {text: string, whole: string}[] parts whole: the paragraphs that the part is from
function M.parts(text)
  local paragraphs, sentences = {}, {}
  for paragraph in (text .. "\n\n"):gmatch "(.-)\n%s*\n" do
    if paragraph:find "%S" then
      paragraphs[#paragraphs + 1] = paragraph
      for _, sentence in ipairs(sentences_of(paragraph)) do
        sentences[#sentences + 1] = { sentence, #paragraphs }
      end
    end
  end
  local made, most = packed(sentences, MOST_WORDS), MOST_WORDS
  while #packed(sentences, most - 1) == #made and most > 1 do
    most = most - 1
  end
  local list = {}
  for i, part in ipairs(packed(sentences, most)) do
    list[i] = { text = joined(part),
      whole = table.concat(paragraphs, "\n\n", part[1][2], part[#part][2]) }
  end
  return list
end

return M
