-- Tokenizers of other models. The golden ids are those of the SentencePiece library
-- (tests/fixtures/published/tokenizer.py).

local files = require("roper.system.file")
local foreign = require("roper.tasks.text.foreign")
local scratch = require("tests.scratch")
local sentencepiece = require("tests.sentencepiece")
local subprocess = require("roper.system.process")

local MODEL <const> = "tests/fixtures/published/tokenizer.model"
local it = sentencepiece.missing and function(name) -- luacheck: ignore it
  pending(name .. ": " .. sentencepiece.missing)
end or it

describe("the tokenizer of any SentencePiece model", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("encodes as the library does, also newlines", function()
    local tokenizer = foreign.new(MODEL, false)
    for _, golden in ipairs(files.decode("tests/fixtures/published/tokenizer.json")) do
      local expected = table.move(golden.ids, 1, #golden.ids, 1, {})
      assert.same(expected, tokenizer:encode(golden.text):totable(), golden.text)
    end
  end)

  it("begins a text with the model's piece for that", function()
    local with, without = foreign.new(MODEL, true), foreign.new(MODEL, false)
    local ids = without:encode("the cat"):totable()
    table.insert(ids, 1, 1)
    assert.same(ids, with:encode("the cat"):totable())
    assert.same({ 1 }, with:encode(""):totable())
  end)

  -- Trains a model with these options and returns its tokenizer.
  local function trained(name, ...)
    scratch.write("lines.txt", ("the cat sat on the mat\na dog and a log\n"):rep(20))
    subprocess.run("spm_train", { "--input=lines.txt", "--model_prefix=" .. name,
      "--minloglevel=2", ... }, { folder = scratch.path("") })
    return foreign.new(scratch.path(name .. ".model"), true)
  end

  it("turns newlines into spaces if the model's rules do", function()
    local tokenizer = trained("nmt", "--vocab_size=17")
    assert.same(tokenizer:encode("the cat sat"):totable(),
      tokenizer:encode("the\ncat\nsat"):totable())
  end)

  it("refuses newlines that it cannot encode", function()
    local tokenizer = trained("plain", "--vocab_size=17", "--normalization_rule_name=identity")
    assert.error_matches(function() tokenizer:encode("a\nb") end, "expected text without newlines")
    assert.error_matches(function() foreign.new(MODEL, true):encode("a\n\u{E000}") end,
      "expected text without newlines")
  end)

  it("knows a model without a piece that begins a text", function()
    assert.is_nil(trained("none", "--vocab_size=17", "--bos_id=-1").begin)
  end)

  it("refuses text that is not UTF-8, and damaged models", function()
    local tokenizer = foreign.new(MODEL, true)
    assert.error_matches(function() tokenizer:encode("a\xff") end, "expected text in UTF%-8")
    assert.error_matches(function() tokenizer:encode("a\0b") end, "without zero bytes")
    local path = scratch.write("damaged.model", scratch.read(MODEL):sub(1, 700))
    assert.error_matches(function() foreign.new(path, true) end, "expected a SentencePiece model")
    assert.error_matches(function() foreign.new(scratch.write("empty.model", ""), true) end,
      "expected a SentencePiece model")
    assert.error_matches(function() foreign.new(scratch.path("none"), true) end, "no model")
  end)
end)
