-- Tokenizers of published models. The golden ids are those of the library tokenizers
-- (tests/fixtures/published/tokenizer_forms.py).

local core = require("roper.core")
local files = require("roper.system.file")
local json = require("roper.tasks.text.published.json")
local nfc = require("roper.tasks.text.published.nfc")
local patterns = require("roper.tasks.text.published.pattern")
local published = require("roper.tasks.text.published")
local roper = require("roper")
local scratch = require("tests.scratch")

local FOLDER <const> = "tests/fixtures/published/tokenizers/"
local it_splits = core.pattern and it or function(name)
  pending(name .. ": roper was built without PCRE2")
end

describe("the tokenizer of a tokenizer.json", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local golden = files.decode(FOLDER .. "golden.ids")

  -- A file in which fields differ; `change` gets its content.
  local function changed(form, change)
    local content = files.decode(("%s%s.json"):format(FOLDER, form))
    change(content)
    return scratch.write("changed.json", core.json_encode(content))
  end

  local function refused(message, form, change)
    local path = changed(form, change)
    local ok, got = pcall(json.new, path)
    assert.is_false(ok)
    assert.equal("text: " .. path .. ": " .. message, got)
  end

  for _, form in ipairs({ "gpt2", "gpt2_added", "llama3", "qwen2", "smollm", "digits", "gemma" }) do
    it_splits("gives the ids of the library, of the form " .. form, function()
      local tokenizer = json.new(("%s%s.json"):format(FOLDER, form))
      for i, text in ipairs(golden.texts) do
        assert.same(table.move(golden[form][i], 1, #golden[form][i], 1, {}), tokenizer:ids(text),
          ("%s: %q"):format(form, text))
      end
    end)
  end

  for _, form in ipairs({ "llama2", "mistral", "whole", "unknown", "unknown_apart" }) do
    it("gives the ids of the library without patterns, of the form " .. form, function()
      local tokenizer = json.new(("%s%s.json"):format(FOLDER, form))
      for i, text in ipairs(golden.texts) do
        assert.same(table.move(golden[form][i], 1, #golden[form][i], 1, {}), tokenizer:ids(text),
          ("%s: %q"):format(form, text))
      end
    end)
  end

  it("gives the same ids whether or not it divides a text at spaces", function()
    local tokenizer = json.new(FOLDER .. "mistral.json")
    assert.is_true(tokenizer.is_cut)
    assert.is_false(json.new(FOLDER .. "whole.json").is_cut)
    local cut = core.json_encode(golden.texts) .. ("  a\u{2581} b "):rep(50)
    local ids = tokenizer:ids(cut)
    tokenizer.is_cut = false
    assert.same(tokenizer:ids(cut), ids)
  end)

  it_splits("refuses text that is not UTF-8", function()
    assert.error_matches(function() json.new(FOLDER .. "gpt2.json"):ids("a\xff") end,
      "^text: expected text in UTF%-8, got the byte 0xFF at byte 2$")
  end)

  it("refuses by name what it does not know", function()
    refused("model: expected BPE, got \"Unigram\"", "llama2", function(content)
      content.model.type = "Unigram"
    end)
    refused("normalizer: expected one of NFC, Prepend, Replace, Sequence, got \"NFKC\"", "llama2",
      function(content) content.normalizer = { type = "NFKC" } end)
    refused("Sequence: normalizer: expected one of NFC, Prepend, Replace, Sequence, got "
      .. "\"Lowercase\"", "llama2", function(content)
        content.normalizer.normalizers[1].type = "Lowercase"
      end)
    refused("pre_tokenizer: expected one of ByteLevel, Digits, Metaspace, Sequence, Split, got "
      .. "\"Whitespace\"", "llama2", function(content)
        content.pre_tokenizer = { type = "Whitespace" }
      end)
    refused("post_processor: expected one of ByteLevel, Sequence, TemplateProcessing, got "
      .. "\"RobertaProcessing\"", "llama2", function(content)
        content.post_processor.type = "RobertaProcessing"
      end)
    refused("model: dropout = 0.5 is not supported; expected null", "llama2", function(content)
      content.model.dropout = 0.5
    end)
    refused("model: end_of_word_suffix = \"</w>\" is not supported; expected null", "llama2",
      function(content) content.model.end_of_word_suffix = "</w>" end)
    refused("added_tokens: single_word = true, of \"<unk>\", is not supported", "llama2",
      function(content) content.added_tokens[1].single_word = true end)
    refused("truncation: expected null, got {\"max_length\": 8}", "llama2", function(content)
      content.truncation = { max_length = 8 }
    end)
    refused("pre_tokenizer: expected ByteLevel as the last one of a Sequence", "llama2",
      function(content)
        content.pre_tokenizer = { type = "Sequence", pretokenizers = { { type = "ByteLevel" },
          { type = "Metaspace" } } }
      end)
    refused("Split: behavior: expected one of Contiguous, Isolated, MergedWithNext, "
      .. "MergedWithPrevious, Removed, got \"Other\"", "llama2", function(content)
        content.pre_tokenizer = { type = "Split", pattern = { String = "a" }, behavior = "Other" }
      end)
    refused("Metaspace: prepend_scheme: expected one of always, first, never, got \"last\"",
      "mistral", function(content) content.pre_tokenizer.prepend_scheme = "last" end)
  end)

  it("refuses fields of another type, and ids that no token has", function()
    refused("Sequence: normalizers: expected a list of objects, got {\"a\": 1}", "llama2",
      function(content) content.normalizer.normalizers = { a = 1 } end)
    refused("added_tokens: expected a list of objects, got [1]", "llama2",
      function(content) content.added_tokens = { 1 } end)
    refused("post_processor: expected one of ByteLevel, Sequence, TemplateProcessing, got 1",
      "llama2", function(content) content.post_processor = 1 end)
    refused("Metaspace: split: expected true or false, got \"no\"", "mistral",
      function(content) content.pre_tokenizer.split = "no" end)
    refused("Metaspace: replacement: expected one character, got \"\"", "mistral",
      function(content) content.pre_tokenizer.replacement = "" end)
    refused("TemplateProcessing: expected ids of tokens, got 999", "llama2", function(content)
      content.post_processor.special_tokens["<s>"].ids = { 999 }
    end)
  end)

  it("refuses damaged files", function()
    for text, message in pairs({ [""] = "expected a tokenizer.json with a model",
      ["[1]"] = "expected a tokenizer.json with a model",
      ['{"model": {"type": "BPE"}}'] = "model: expected the fields vocab and merges",
      ['{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}'] =
        "model: vocab: expected an id for each token, got %-1",
      ['{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]}}'] =
        "model: merges: expected two tokens, got \"a\"",
      ['{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a a"]}}'] =
        "model: merges: expected tokens of vocab, got \"a\" and \"a\"",
      ['{"model": {"type": "BPE", "vocab": {"a": 99999999}, "merges": []}}'] =
        "expected at most 16,777,216 tokens",
      ['{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "b"}}'] =
        "model: unk_token: expected a token of vocab, got \"b\"",
      ['{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "byte_fallback": true}}'] =
        "model: byte_fallback: expected the token <0x00> in vocab",
      ['{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": [{"id": 1}]}'] =
        "added_tokens: expected a content and an id" }) do
      local path = scratch.write("damaged.json", text)
      assert.error_matches(function() json.new(path) end, message, 1, false)
    end
    assert.error_matches(function() json.new(scratch.path("none")) end, "with a model")
  end)
end)

describe("a pattern of Oniguruma", function()
  it("is refused if PCRE2 understands it differently", function()
    for pattern, part in pairs({ ["a\\wb"] = "\\w", ["\\h"] = "\\h", ["^a"] = "^", ["a$"] = "$",
      ["a{2}+"] = "{2}+", ["a{,2}"] = "{", ["(?m:.)"] = "(?m:", ["(?i)a"] = "(?i)",
      ["[a[b]]"] = "[a[", ["[a&&b]"] = "[a&", ["[]a]"] = "[]", ["[a"] = "[a", ["\\p{foo}"] = "\\p",
      ["a\\"] = "\\", ["(*UTF)"] = "(*UT" }) do
      local ok, message = pcall(patterns.translated, pattern, "x")
      assert.is_false(ok, pattern)
      assert.equal(("x: expected a pattern that PCRE2 understands as Oniguruma does, got %s in %s")
        :format(part, pattern), message)
    end
  end)

  it_splits("takes white space from Unicode, unlike PCRE2", function()
    local blank = patterns.compile("\\s+", "x")
    assert.same({ "a", "\u{A0}\u{2003}\u{85}", "b\u{180E}c" }, blank:split("a\u{A0}\u{2003}\u{85}"
      .. "b\u{180E}c"))
    assert.same({ "", "a", "\u{2028}", "\u{180E}", "" }, patterns.compile("\\S+", "x"):split(
      "a\u{2028}\u{180E}"))
    assert.same({ "\u{3000}", "1", " " }, patterns.compile("[^\\s]", "x"):split("\u{3000}1 "))
    assert.same({ "\u{3000}", "1", " " }, patterns.compile("[\\S]", "x"):split("\u{3000}1 "))
  end)
end)

describe("normalization form C", function()
  -- Pairs of a text and its form, from Unicode's NormalizationTest.txt and UAX 15.
  local PAIRS <const> = { { "a\u{301}", "\u{E1}" }, { "\u{212B}", "\u{C5}" },
    { "\u{1E0B}\u{323}", "\u{1E0D}\u{307}" }, { "q\u{307}\u{323}", "q\u{323}\u{307}" },
    { "\u{1100}\u{1161}\u{11A8}", "\u{AC01}" }, { "\u{AC00}\u{11A7}", "\u{AC00}\u{11A7}" },
    { "\u{958}", "\u{915}\u{93C}" }, { "\u{F900}", "\u{8C48}" }, { "\u{344}", "\u{308}\u{301}" },
    { "a\u{5AE}\u{315}\u{300}\u{62}", "\u{E0}\u{5AE}\u{315}b" },
    { "\u{1D15E}", "\u{1D157}\u{1D165}" },
    { "a\u{313}\u{301}", "a\u{313}\u{301}" }, -- one of the same class blocks the other
    { "\u{AABF}\u{348}", "\u{348}\u{AABF}" }, { "a\u{327}\u{301}\u{302}", "\u{E1}\u{327}\u{302}" },
    { "\u{9C7}\u{334}\u{9BE}", "\u{9C7}\u{334}\u{9BE}" }, { "abc é", "abc é" } }

  it("composes and orders characters", function()
    for _, pair in ipairs(PAIRS) do
      assert.equal(pair[2], nfc.composed(pair[1]))
      assert.equal(pair[2], nfc.composed(pair[2]))
    end
  end)
end)

describe("the tokenizer in a folder of a published model", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- A folder with a tokenizer and a config.json.
  local function folder(form, config)
    files.make(scratch.path("model"))
    local tokenizer = files.read(("%s%s.json"):format(FOLDER, form))
    files.write(scratch.path("model/tokenizer.json"), tokenizer)
    files.write(scratch.path("model/config.json"), core.json_encode(config))
    return scratch.path("model")
  end

  it("ends texts with eos_token_id, a zero byte", function()
    local tokenizer = published.new(folder("mistral", { vocab_size = 330,
      eos_token_id = { 2, 1 } }))
    assert.same({ 330, 2, "\0", "\0", "" }, { #tokenizer.words, tokenizer.stop, tokenizer.words[3],
      tokenizer.words[2], tokenizer.words[330] })
    local cat, dog = tokenizer:encode("the cat"):totable(), tokenizer:encode("dog"):totable()
    table.insert(cat, 2)
    assert.same(cat, tokenizer:encode("the cat\0"):totable())
    table.move(dog, 1, #dog, #cat + 1, cat)
    assert.same(cat, tokenizer:encode("the cat\0dog"):totable())
    assert.same({ 2 }, tokenizer:encode("\0"):totable())
    assert.same({}, tokenizer:encode(""):totable())
    assert.equal("the cat", tokenizer:decode(" the cat"))
  end)

  it("refuses a zero byte and documents if no token ends texts", function()
    local path = folder("mistral", {})
    local tokenizer = published.new(path)
    assert.error_matches(function() tokenizer:encode("a\0b") end, "has no eos_token_id")
    assert.error_matches(function() tokenizer:write(nil, "training", { "a" }) end,
      "expected an eos_token_id in .*/config.json")
    files.write(path .. "/generation_config.json", '{"eos_token_id": 2}')
    assert.equal(2, published.new(path).stop)
  end)

  it("refuses more tokens than the model has", function()
    local path = folder("mistral", { vocab_size = 300 })
    assert.error_matches(function() published.new(path) end,
      "expected at most 300 tokens, those of the model, got %d+")
  end)

  it("makes rows of the text task, whose documents end with its own token", function()
    local path = folder("llama2", { vocab_size = 330, eos_token_id = 2 })
    local text = scratch.write("text.txt",
      "the cat sat\n\nthe dog\n\na log on the mat\n\nthe end\n")
    local task = roper.tasks.text({ tokenizer = path, files = text, documents = "paragraphs",
      length = 4, validation = 0.25, cache = scratch.path("cache") })
    assert.equal(330, #task:vocabulary())
    assert.equal(path, task:model())
    assert.equal("", task:beginning())
    local ids = task:batch(task:size().training.rows):view({ -1 }):totable()
    local counts = { 0, 0 }
    for _, id in ipairs(ids) do
      counts[id] = (counts[id] or 0) + 1
    end
    assert.is_true(counts[1] >= 2 and counts[2] >= 2) -- <s> and </s>
    local again = roper.tasks.text({ tokenizer = path, files = text, documents = "paragraphs",
      length = 4, validation = 0.25, cache = scratch.path("cache") })
    assert.equal(task:hash(), again:hash())
  end)
end)
