-- The reader of tokenizer.json, with texts for the tokenizers that it accepts. In the form of
-- parsers.lua.

local core = require("roper.core")
local files = require("tests.fuzz.files")
local published = require("roper.tasks.text.published")

local NAMES <const> = { "digits", "gemma", "gpt2", "gpt2_added", "llama2", "llama3", "mistral",
  "qwen2", "smollm", "unknown", "unknown_apart", "whole" }
local MERGES <const> = 4 -- of a shortened tokenizer

-- A tokenizer with the tokens of a few merges, so that most changes concern its other fields.
local function shortened(text)
  local given = core.json_decode(text)
  local vocab, merges = given.model.vocab, {}
  local unknown = given.model.unk_token ~= core.json_null and given.model.unk_token or nil
  given.model.vocab = unknown and { [unknown] = vocab[unknown] } or {}
  for _, special in ipairs(given.added_tokens) do
    given.model.vocab[special.content] = vocab[special.content]
  end
  for i = 1, MERGES do
    merges[i] = given.model.merges[i]
    local left, right = table.unpack(type(merges[i]) == "table" and merges[i]
      or { merges[i]:match("(%S+) (%S+)") })
    for _, token in ipairs({ left, right, left .. right }) do
      given.model.vocab[token] = vocab[token]
    end
  end
  given.model.merges, given.model.byte_fallback = core.json_array(merges), false
  return core.json_encode(given, { sort = true })
end

local corpus = {}
for _, name in ipairs(NAMES) do
  local text = files.read(("tests/fixtures/published/tokenizers/%s.json"):format(name))
  corpus[#corpus + 1] = text
  corpus[#corpus + 1] = shortened(text)
end

local TEXTS <const> = { "", " ", "some words", "  two  spaces, 1234 of 5", "don't\n\n\tgo",
  "<|endoftext|> <s>x</s> <mask> ", "é e\u{301} \u{2581}\u{AC00}\u{10FFFF}", ("ab "):rep(100) }

-- A problem with the ids of a text.
local function of_text(tokenizer, text)
  local ids = tokenizer:encode(text)
  local fit = ids:dtype() == "int32" and ids:ge(0):all() and ids:lt(#tokenizer.words):all()
  return not fit and ("ids of %q outside the vocabulary"):format(text) or nil
end

local folder = files.folder("./tokenizer")

return {
  tokenizers = {
    corpus = corpus,
    literals = { "null", "{}", "[]", "[[1]]", '[{"type": "ByteLevel"}]', '{"type": "Digits"}',
      '{"String": "a"}', '{"Regex": "a|\\\\s+"}', "true", "false", "0", "-1", "1.5", "3", "1e308",
      "2147483648", '""', '"x"', '" "', '"Sequence"', '"Removed"', '"first"' },
    run = function(text)
      files.write(folder .. "/tokenizer.json", text)
      local tokenizer = published.new(folder)
      for i, word in ipairs(tokenizer.words) do
        if type(word) ~= "string" then
          return ("token %d is no text"):format(i - 1)
        end
      end
      for _, one in ipairs(TEXTS) do
        local problem = of_text(tokenizer, one)
        if problem then
          return problem
        end
      end
      tokenizer:decode(tokenizer.words[1] or "")
    end,
  },
}
