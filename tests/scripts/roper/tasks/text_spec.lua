local core = require("roper.core")
local roper = require("roper")
local scratch = require("tests.scratch")
local sentencepiece = require("tests.sentencepiece")
local tables = require("roper.base.tables")

local licenses = "/usr/share/common-licenses"

-- A task on some content, bytes as tokens, paragraphs as documents.
local function task_of(content, changes)
  local options = { files = scratch.write("text", content), documents = "paragraphs",
    tokenizer = "bytes", length = 5, validation = 0, cache = scratch.path("cache") }
  for name, value in pairs(changes or {}) do
    options[name] = value
  end
  return roper.tasks.text(options)
end

local function licensed(changes)
  local options = { files = licenses, tokenizer = "bytes", length = 33,
    cache = scratch.path("cache") }
  for name, value in pairs(changes or {}) do
    options[name] = value
  end
  return roper.tasks.text(options)
end

describe("tasks.list", function()
  it("names every kind", function()
    local names = tables.joined(core.tasks.list(), { "text" })
    table.sort(names)
    assert.same(names, roper.tasks.list())
  end)
end)

describe("tasks.options", function()
  it("describes every option but the seed", function()
    assert.same({ "length", { smallest = 2, largest = 1 << 20 }, 641, "tokens in a row" },
      roper.tasks.options("addition")[1])
    assert.same({ "coupled", "boolean", false, "digits of the same significance share a position" },
      roper.tasks.options("addition")[3])
    local names = {}
    for i, row in ipairs(roper.tasks.options("text")) do
      names[i] = row[1]
      assert.equal("string", type(row[4]))
    end
    assert.same({ "length", "files", "documents", "tokenizer", "vocabulary", "validation",
      "hash" }, names)
  end)
end)

describe("tasks.text", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("contains all text once per epoch, and the ends of documents", function()
    local task = task_of("abc\n\nde\n\nfgh")
    assert.same({ documents = 3, tokens = 11, bytes = 8, rows = 2 }, task:size().training)
    local texts = {}
    for i, row in ipairs(task:batch(2):totable()) do
      texts[i] = task:decode(row)
    end
    table.sort(texts)
    assert.same({ "abc\0d", "de\0fg" }, texts)
  end)

  it("holds out documents, the same for every seed, and does not train on them", function()
    local parts = {}
    for i = 1, 40 do
      parts[i] = ("document%02d"):format(i)
    end
    local content = table.concat(parts, "\n\n")
    local function held(task)
      local text = ""
      for rows in task:validation({ length = 12 }) do
        for _, row in ipairs(rows:totable()) do
          text = text .. task:decode(row):sub(1, -2)
        end
      end
      return text
    end
    local task = task_of(content, { validation = 0.1, length = 12 })
    local size = task:size()
    assert.equal(36, size.training.documents)
    assert.equal(4, size.validation.documents)
    assert.equal(40, size.validation.bytes)
    local other = task_of(content, { validation = 0.1, length = 12, seed = 2 })
    assert.equal(held(task), held(other))
    local seen, trained = {}, 0
    for number in held(task):gmatch("t(%d%d)") do
      seen[number] = true
    end
    for _, row in ipairs(task:batch(size.training.rows):totable()) do
      for number in task:decode(row):gmatch("t(%d%d)") do
        assert.is_nil(seen[number])
        trained = trained + 1
      end
    end
    assert.is_true(trained > 30)
    assert.not_same(task:batch(3):totable(), other:batch(3):totable())
  end)

  it("holds out all or none on request", function()
    local all = task_of("abc\n\nde\n\nfgh", { validation = 1 })
    assert.equal(3, all:size().validation.documents)
    assert.error_matches(function() all:batch(1) end,
      "a row of 5 tokens is longer than the training text, 0")
    local none = task_of("abc\n\nde\n\nfgh", { validation = 0 })
    assert.error_matches(function() none:validation() end,
      "a row of 5 tokens is longer than the validation text of 0 tokens")
    assert.error_matches(function() task_of("one document", { validation = 0.1 }) end,
      "one document cannot be split into training and validation; set validation = 0")
  end)

  it("returns validation rows in order, in the requested number and length", function()
    local task = licensed()
    local rows, shapes = task:size().validation.rows, 0
    local whole = {}
    for tokens in task:validation({ batch = 10 }) do
      shapes = shapes + tokens:size(1)
      table.move(tokens:totable(), 1, tokens:size(1), #whole + 1, whole)
    end
    assert.equal(rows, shapes)
    local again = {}
    task:batch(3)
    for tokens in task:validation({ batch = 7, limit = 12 }) do
      table.move(tokens:totable(), 1, tokens:size(1), #again + 1, again)
    end
    assert.same(table.move(whole, 1, 12, 1, {}), again)
    local longer = (task:size().validation.tokens - 1) // 64
    assert.is_true(longer > 1)
    assert.same({ longer, 65 }, task:validation({ batch = longer + 1, length = 65 })():shape())
    assert.error_matches(function() task:validation({ length = 1 }) end, "option length")
  end)

  it("continues from its state, bit for bit", function()
    local task = licensed({ seed = 3 })
    assert.same({ 3, 0 }, { task:random() })
    task:batch(5)
    local seed, counter = task:random()
    local expected = task:batch(4):totable()
    local other = licensed({ seed = 9 })
    other:set_random(seed, counter)
    assert.same(expected, other:batch(4):totable())
  end)

  it("keeps its state if a batch is rejected", function()
    local task = licensed()
    for _, rows in ipairs({ 0, -1, 1.5, math.maxinteger, "x", {} }) do
      assert.error_matches(function() task:batch(rows) end, "batch: rows: expected an integer")
    end
    assert.error_matches(function() task:batch(1, { answers = true }) end,
      "task:batch: a text task has rows but no problems")
    assert.same({ 1, 0 }, { task:random() })
  end)

  it("is created again from its options, and prints as its constructor", function()
    local task = licensed({ seed = 4 })
    local options = task:options()
    assert.equal(4, options.seed)
    assert.same({ licenses }, options.files)
    options.cache = scratch.path("cache")
    local again = roper.tasks.text(options)
    assert.same(task:batch(2):totable(), again:batch(2):totable())
    local shown = load("return (...)." .. tostring(task), "", "t", {})
    local made = shown({ text = function(given) return given end })
    options.cache = nil
    assert.same(options, made)
    assert.equal(#roper.evaluate.fresh(task, 7):vocabulary(), 256)
  end)

  it("rejects other text when it is created again", function()
    local options = task_of("abc\n\ndef"):options()
    assert.error_matches(function() task_of("abc\n\ndeg", { hash = options.hash }) end,
      "text: expected tokens with the hash %x+, got %x+; the files or the tokenizer changed")
  end)

  it("encodes and decodes bytes, a zero byte for the end of a document", function()
    local task = task_of("abc\n\nde")
    local text = "caf\u{e9}\n\0\255"
    assert.equal(text, task:decode(task:encode(text)))
    assert.same({ 0 }, task:encode("\0"):totable())
    assert.equal("ab", task:decode({ 97, 98 }))
    assert.error_matches(function() task:decode({ 1, 256 }) end,
      "expected token ids from 0 to 255, got 256 at index 2")
    local words = task:vocabulary()
    assert.equal(256, #words)
    words[1] = "changed"
    assert.equal("\0", task:vocabulary()[1])
    assert.equal("\0", task:stop())
    assert.is_nil(task:model())
  end)

  it("encodes and decodes without files, but has no rows", function()
    local task = roper.tasks.text({ tokenizer = "bytes" })
    assert.equal("a\0b", task:decode(task:encode("a\0b")))
    assert.equal('text{length = 257, tokenizer = "bytes", vocabulary = 8000, validation = 0.05, '
      .. "seed = 1}", tostring(task))
    for _, method in ipairs({ "batch", "validation", "size" }) do
      assert.error_matches(function() task[method](task) end,
        ("task:%s: a text without files has no rows; pass the option files"):format(method))
    end
  end)

  it("reads another text: rows for validation, which share a token with the next", function()
    local task = roper.tasks.text({ tokenizer = "bytes" }):read("abcdefgh")
    local rows = {}
    for tokens in task:validation({ length = 3, batch = 2 }) do
      for _, row in ipairs(tokens:totable()) do
        rows[#rows + 1] = task:decode(row)
      end
    end
    assert.same({ "abc", "cde", "efg" }, rows)
    assert.error_matches(function() task:validation({ length = 9 }) end,
      "a row of 9 tokens is longer than the validation text of 8 tokens")
    assert.error_matches(function() task:batch(1) end, "task:batch: a text that was read has rows")
    assert.error_matches(function() roper.tasks.copy():validation() end,
      "task:validation: expected a task of the kind text, got copy")
  end)

  it("raises an error for functions that text does not have", function()
    local task, linear = task_of("abc\n\nde"), roper.nn.Linear({ inputs = 1, outputs = 1 })
    assert.is_false(task:has_problems())
    for _, name in ipairs({ "question", "answer", "grade", "explain", "floor", "longest" }) do
      assert.error_matches(function() task[name](task) end,
        ("task:%s: a text task has rows but no problems"):format(name))
    end
    assert.error_matches(function() roper.evaluate.solve(linear, task) end,
      "a text task has rows but no problems")
  end)

  it("rejects options that do not match", function()
    local function refused(options, pattern)
      assert.error_matches(function() roper.tasks.text(options) end, pattern)
    end
    refused({ files = {} }, "expected a path or a list")
    refused({ files = { "a", 3 } }, "expected a path or a list")
    refused({ files = { "a", x = "b" } }, "expected a path or a list")
    refused({ files = "a\0b" }, "expected a path or a list")
    refused({ files = "a", length = 1 }, "option length: expected an integer from 2 to 1048576")
    refused({ files = "a", vocabulary = 258 }, "option vocabulary: expected an integer from")
    refused({ files = "a", validation = 2 }, "option validation: expected a number from 0 to 1")
    refused({ files = "/no/such" }, "text: no file or folder /no/such")
    refused({ files = licenses, tokenizer = "/no/such", cache = scratch.path("c") },
      "text: no model /no/such")
    refused({ files = licenses, tokenizer = "byte" }, 'text: no model byte; did you mean "bytes"?')
    refused({ files = licenses, tokenizer = licenses .. "/BSD", cache = scratch.path("c") },
      "BSD: expected a SentencePiece model, got a damaged file or one of another kind")
    assert.error_matches(function() task_of("abc", { length = 50 }) end,
      "a row of 50 tokens is longer than the text: 4 tokens for training, 0 for validation")
  end)

  it("trains a model, whose run resumes bit for bit from a checkpoint", function()
    local function train(steps, resume)
      local task = licensed()
      roper.seed(1)
      local model = roper.nn.Transformer({ vocabulary = task:vocabulary(), d_model = 16, heads = 2,
        layers = 1 })
      return model, roper.train({ model = model, task = task, steps = steps, batch = 4,
        optimizer = roper.optim.Adam({ rate = 1e-2 }), run = scratch.path("run"), resume = resume,
        progress = false })
    end
    train(5)
    local model = train(12, true)
    os.execute(("rm -rf '%s'"):format(scratch.path("run")))
    local whole, done = train(12)
    assert.is_true(done.loss < 4.5)
    for i, parameter in ipairs(whole:named_parameters()) do
      assert.same(parameter.tensor:totable(), model:named_parameters()[i].tensor:totable())
    end
    local texts = roper.generate(whole, { "The ", "\0", "GNU" }, { task = licensed(), limit = 8 })
    assert.equal(3, #texts)
    assert.is_true(#texts[1] <= 8)
    os.execute(("rm -rf '%s'"):format(scratch.path("run")))
    local line = require("tests.stdout").capture_errors(function()
      roper.train({ model = whole, task = licensed(), steps = 1, batch = 1,
        optimizer = roper.optim.Adam() })
    end)
    assert.truthy(line:find("loss %d%.%d+  %d"), line)
  end)
end)

describe("tasks.text by SentencePiece", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  local function test(name, f)
    it(name, function()
      if sentencepiece.missing then
        return pending(sentencepiece.missing)
      end
      f()
    end)
  end

  test("has the requested vocabulary, and fewer tokens than bytes", function()
    local task = licensed({ tokenizer = "sentencepiece", vocabulary = 500 })
    assert.equal(500, #task:vocabulary())
    local size = task:size().training
    assert.is_true(size.tokens < 0.6 * size.bytes)
    local bytes = licensed():size().training
    assert.equal(bytes.bytes, size.bytes)
    assert.equal(bytes.documents, size.documents)
  end)

  test("decodes to the original text", function()
    local content = "One  two\n\n\tthree \u{e9}\u{4e16}\u{1f600}\r\n\n  <s> </s> <0x41> <unk>\n\n"
      .. ("the words of the text, again and again.\n"):rep(30)
    local task = task_of(content, { documents = "file", tokenizer = "sentencepiece",
      vocabulary = 285, length = 2 })
    local ids = {}
    for i, row in ipairs(task.source.corpus:read("training", task:size().training.tokens, 1, 1)
      :totable()[1]) do
      ids[i] = row
    end
    assert.equal(content .. "\0", task:decode(ids))
    assert.same(ids, task:encode(content .. "\0"):totable())
    for _, text in ipairs({ "", "\n", "\0", "a\0\0b\n\nc\0", " x ", "\u{4e16}\u{754c}" }) do
      assert.equal(text, task:decode(task:encode(text)))
    end
  end)

  test("keeps U+2581, which marks a space in pieces", function()
    local content = "\u{2581}a b\u{2581}\u{2581}\nc \u{2581} d\u{2581}\n\u{2581}\n"
      .. ("the words of the text, again\u{2581}and again.\n"):rep(30) .. "end\u{2581}"
    local task = task_of(content, { documents = "file", tokenizer = "sentencepiece",
      vocabulary = 280, length = 2 })
    local size = task:size().training
    local ids = task.source.corpus:read("training", size.tokens, 1, 1)[1]:totable()
    assert.equal(content .. "\0", task:decode(ids))
    assert.same(ids, task:encode(content .. "\0"):totable())
    for _, text in ipairs({ "\u{2581}", "a\u{2581}", "\u{2581}\0\u{2581}", " \u{2581} \n" }) do
      assert.equal(text, task:decode(task:encode(text)))
    end
    for _, word in ipairs(task:vocabulary()) do
      assert.is_nil(word:find("\u{2581}", 1, true))
    end
  end)

  test("accepts a model that was trained on another text", function()
    local first = licensed({ tokenizer = "sentencepiece", vocabulary = 400 })
    local second = task_of("Another text.\n\nEntirely.", { tokenizer = first:model() })
    assert.same(first:vocabulary(), second:vocabulary())
    assert.equal("Another text.", second:decode(first:encode("Another text.")))
    assert.equal(first:model(), second:options().tokenizer)
  end)

  test("rejects a vocabulary that the text does not allow", function()
    local function with(vocabulary)
      task_of(("the words of the text. "):rep(20), { tokenizer = "sentencepiece",
        vocabulary = vocabulary })
    end
    assert.error_matches(function() with(5000) end,
      "^text: a vocabulary of 5000 is too large for the text; use at most %d+$")
    assert.error_matches(function() with(260) end,
      "^text: a vocabulary of 260 is too small for the text; use more than %d+$")
    with(270)
  end)
end)
