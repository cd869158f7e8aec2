local experiment = require("roper.workbench.study.experiment")
local files = require("roper.system.file")
local process = require("tests.process")
local measures = require("roper.workbench.study.run.measures")
local run = require("roper.workbench.study.run")
local scratch = require("tests.scratch")
local sentencepiece = require("tests.sentencepiece")
local tables = require("roper.base.tables")

describe("eval and sample", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- Trains a small run in a folder of this name.
  local function train(name, experiment_name, fields)
    local config = experiment.configure(experiment_name, tables.merged({ preset = "smoke",
      steps = 2 }, fields))
    return run.run(config, { run = scratch.path(name), progress = false }), scratch.path(name)
  end

  local text_fields = { length = 17, documents = "paragraphs",
    files = "/usr/share/common-licenses/Artistic", tokenizer = "bytes" }

  local function roper(...)
    local status, output, errors = process.run({ "./roper", ... }, nil, { OMP_NUM_THREADS = "1" })
    return { status, output, errors }
  end

  -- Checks that the command fails with this status and message, and prints nothing else.
  local function refuses(status, message, ...)
    local found = roper(...)
    assert.same({ status, "" }, { found[1], found[2] })
    assert.truthy(found[3]:find("roper: " .. message, 1, true), found[3])
  end

  describe("of problems", function()
    local result, folder

    setup(function() result, folder = train("problems", "addition") end)

    it("computes with --threads", function()
      for _, command in ipairs({ "eval", "sample" }) do
        assert.equal("", roper(command, folder, "--threads", "2")[3])
        assert.truthy(roper(command, folder, "--threads", "1000000")[3]:find(
          "threads: expected an integer from 1 to ", 1, true))
      end
    end)

    it("repeats the results of the run", function()
      local found = roper("eval", folder)
      assert.equal("", found[3])
      local before, after = found[2]:match("^(.-\n\n)  tokens back .-\n(\n.*)$")
      assert.equal(measures.line(result) .. "\n\n", before)
      local lines = { "", "  longer problems  solved  accuracy  beyond the trained size    loss   "
        .. "floor" }
      for _, entry in ipairs(result.longer) do
        lines[#lines + 1] = ("  %s     %d of 4     %.3f  %23.3f  %.4f  %.4f"):format(entry.name,
          entry.solved, entry.accuracy, entry.accuracy_beyond, entry.loss, entry.floor)
      end
      assert.equal(table.concat(lines, "\n") .. "\n", after)
    end)

    it("prints the accuracy by the distance to the source, in ranges that double", function()
      local needle, run_folder = train("needle", "needle", { spread = 14, length = 65 })
      local rows = { "  tokens back to the source  accuracy  answer tokens" }
      for _, bounds in ipairs({ { 3, 4 }, { 5, 8 }, { 9, 16 }, { 17, 17 } }) do
        local right, count = 0, 0
        for _, entry in ipairs(needle.by_distance) do
          if entry.distance >= bounds[1] and entry.distance <= bounds[2] then
            right, count = right + entry.right, count + entry.count
          end
        end
        local range = bounds[1] < bounds[2] and ("%d to %d"):format(table.unpack(bounds)) or "17"
        rows[#rows + 1] = ("  %-25s     %.3f  %13d"):format(range, right / count, count)
      end
      assert.truthy(roper("eval", run_folder)[2]:find(table.concat(rows, "\n") .. "\n", 1, true))
      assert.matches("  accuracy  answer tokens\n  200 +[%d.]+ +%d+\n",
        roper("eval", run_folder, "distance=200", "spread=0", "length=609")[2])
    end)

    it("evaluates other and fewer problems", function()
      local output = roper("eval", folder, "max_digits=3", "problems=2", "test_sequences=4",
        "--checkpoint", "best")[2]
      assert.matches("^%d of 2 solved .*\n  max_digits=7  +%d of 2 ", output)
      assert.matches("accuracy on answers [%d.]+ %(beyond the trained size [%d.]+%), loss", output)
    end)

    it("answers a given or random problem, and grades the answer", function()
      local found = roper("sample", folder, "?d=1+2;", "--temperature", "0")
      assert.equal("", found[3])
      assert.matches("^question  %?d=1%+2;\nanswer    .+\n"
        .. "expected   1e0%+2e0%+0e0==3e0 and d==3#\n$", found[2])
      local drawn = roper("sample", folder, "--seed", "7")
      assert.matches("^question  %?d=%d+%+%d+;\nanswer    ", drawn[2])
      assert.same(drawn, roper("sample", folder, "--seed", "7"))
      assert.not_equal(drawn[2], roper("sample", folder, "--seed", "8")[2])
      assert.matches("\nnot graded: addition: expected a question such as ",
        roper("sample", folder, "?d=1000+2;", "--tokens", "3")[2])
    end)

    it("grades a right answer as right", function()
      local lines = scratch.write("oracle.lua", [[
        local generate = require "roper.model.generate"
        generate.generate = function(_, prompts, o) return { (o.task:answer(prompts[1])) } end]])
      assert.equal("question  ?d=1+2;\nanswer     1e0+2e0+0e0==3e0 and d==3#\nright\n",
        roper("sample", folder, "?d=1+2;", "--load", lines)[2])
    end)

    it("rejects missing runs and impossible fields", function()
      local none = scratch.path("none")
      refuses(1, "expected the folder of a run, as listed by ./roper runs: there is no folder "
        .. none .. "\n", "eval", none)
      refuses(1, "expected the folder of a run, as listed by ./roper runs: . has no config.json\n",
        "eval", ".")
      refuses(2, 'eval: cannot set max_digit; did you mean "max_digits"? It takes length, '
        .. "max_digits, coupled, problems, test_sequences\nTry roper eval --help.\n", "eval",
        folder, "max_digit=3")
      refuses(2, 'field max_digits: expected an integer from 1 to 18, got "x"', "eval", folder,
        "max_digits=x")
      refuses(2, "--checkpoint: expected last, best or the step of a snapshot, got lst", "eval",
        folder, "--checkpoint", "lst")
      refuses(2, "argument for option '--weights' must be one of 'float32', 'bfloat16'", "sample",
        folder, "--weights", "int8")
      refuses(2, "--temperature: expected a finite non-negative number, got -1", "sample", folder,
        "--temperature=-1")
      refuses(2, "--seed: expected an integer, got 1.5", "sample", folder, "--seed", "1.5")
      refuses(1, 'task:encode: expected the tokens of addition, " #+0123456789;=?aden", '
        .. 'got "h" at index 1', "sample", folder, "hello")
    end)

    it("rejects another vocabulary", function()
      local _, copy = train("copy", "copy")
      refuses(1, copy .. " was trained on a vocabulary of 28 tokens; this task has another one, "
        .. "of 6", "eval", copy, "alphabet=4")
    end)

    it("rejects a checkpoint that is missing, cut, or another run's", function()
      local _, other = train("other", "addition", { seed = 2, position = "rope" })
      local path = other .. "/checkpoint.safetensors"
      local own = files.read(path)
      files.write(path, files.read(folder .. "/checkpoint.safetensors"))
      refuses(1, ("runs: %s belongs to another run: position is roper in the file, rope in the "
        .. "run"):format(path), "sample", other)
      files.write(path, own:sub(1, -2))
      refuses(1, "load_safetensors: ", "eval", other)
      os.remove(path)
      refuses(1, ("runs: %s has no checkpoint.safetensors"):format(other), "eval", other)
      files.write(other .. "/config.json", (files.read(other .. "/config.json"):gsub('"rope"',
        '"mine"')))
      refuses(1, other .. ": needs the position scheme mine: register it first, in a file for "
        .. "--load", "sample", other)
    end)
  end)

  describe("of text", function()
    local result, folder

    setup(function() result, folder = train("text", "language_model", text_fields) end)

    it("repeats the results of the run", function()
      local found = roper("eval", folder)
      assert.equal("", found[3])
      assert.equal(measures.line(result), found[2]:match("^[^\n]*"))
      assert.truthy(found[2]:find(("\n  9 to 16        %.4f\n"):format(
        result.by_position[5].loss), 1, true), found[2])
      assert.truthy(found[2]:find(("\n  length=65    %.4f  "):format(result.longer[2].loss), 1,
        true), found[2])
    end)

    it("evaluates all of another text", function()
      local path = scratch.write("other.txt", ("Words, and more of them.\n"):rep(40))
      local output = roper("eval", folder, "text=" .. path)[2]
      assert.matches("^loss [%d.]+, perplexity [%d.]+, [%d.]+ bits per byte\n", output)
      assert.not_equal(output, roper("eval", folder, "text=" .. path, "test_sequences=1")[2])
      assert.matches("\n  17 to 24  ", roper("eval", folder, "text=" .. path, "length=25")[2])
    end)

    it("rejects an invalid text, and one shorter than a row", function()
      for content, message in pairs({ [""] = "text: no text in ",
        ["a\255"] = "line 1: expected text in UTF-8, got the byte 0xFF",
        ["short"] = "text: option length: a row of 17 tokens is longer than the text" }) do
        local found = roper("eval", folder, "text=" .. scratch.write("bad", content))
        assert.same({ 1, "" }, { found[1], found[2] })
        assert.truthy(found[3]:find(message, 1, true), found[3])
      end
      refuses(1, "text: no file or folder /no/such", "eval", folder, "text=/no/such")
      refuses(2, 'eval: cannot set txt; did you mean "text"?', "eval", folder, "txt=x")
      refuses(1, "generate: prompt 1 is empty", "sample", folder, "")
      refuses(1, "sample: expected a prompt in UTF-8, got a\\xFF", "sample", folder, "a\255")
    end)

    it("continues a text, or begins one", function()
      local found = roper("sample", folder, "The ", "--tokens", "5", "--temperature", "0")
      assert.equal("", found[3])
      assert.equal("The ", found[2]:sub(1, 4))
      assert.equal(0, roper("sample", folder, "--tokens", "5")[1])
    end)

    it("needs the training text and the cache only to evaluate that text", function()
      if sentencepiece.missing then
        return pending(sentencepiece.missing)
      end
      local content = ("A paragraph of words.\n\n"):rep(40)
      local path = scratch.write("own.txt", content)
      local trained, pieces = train("pieces", "language_model", tables.merged(text_fields,
        { tokenizer = "sentencepiece", vocabulary = 272, files = path, length = 9 }))
      os.remove(path)
      os.execute(("rm -r '%s'"):format(scratch.path("cache")))
      refuses(1, "text: no file or folder " .. path, "eval", pieces)
      local other = "text=" .. scratch.write("other.txt", content)
      assert.matches("^loss ", roper("eval", pieces, other, "documents=paragraphs")[2])
      assert.equal("A par", roper("sample", pieces, "A par")[2]:sub(1, 5))
      scratch.write("own.txt", content)
      assert.equal(measures.line(trained), roper("eval", pieces)[2]:match("^[^\n]*"))
    end)
  end)

  describe("of a published model", function()
    local FIXTURES <const> = "tests/fixtures/published/"

    it("take token ids without a tokenizer", function()
      local model = require("roper").import(FIXTURES .. "llama")
      local ids = { 1, 5, 7 }
      for _ = 1, 3 do
        local tokens = require("roper").tensor({ ids }, "int32")
        ids[#ids + 1] = model(tokens):argmax(3)[{ 1, #ids }]:item() - 1
      end
      local found = roper("sample", FIXTURES .. "llama", "1 5 7", "--tokens", "3",
        "--temperature", "0")
      assert.same({ 0, table.concat(ids, " ") .. "\n", "" }, found)
      local text = "text=" .. scratch.write("ids.txt", "1 2 3 4 5 6 7\n8 9 10 11 12\n")
      assert.matches("^loss [%d.]+, perplexity [%d.]+, %- bits per byte\n\n  tokens before    loss"
        .. "\n  1  .*  2  .*", roper("eval", FIXTURES .. "llama", text, "length=5")[2])
    end)

    it("generate no more tokens than the model has positions", function()
      local found = roper("sample", FIXTURES .. "gpt2_old", "1 5 7", "--seed", "3")
      assert.equal(0, found[1], found[3])
      assert.is_true(select(2, found[2]:gsub("%d+", "")) <= 33)
      found = roper("sample", FIXTURES .. "gpt2_old", "1 5 7", "--tokens", "100", "--seed", "3")
      assert.equal(0, found[1], found[3])
      assert.is_true(select(2, found[2]:gsub("%d+", "")) <= 33)
      found = roper("sample", FIXTURES .. "gpt2_old", ("1 "):rep(33))
      assert.equal(1, found[1])
      assert.matches("expected a prompt of at most 32 tokens, the positions of this model, got 33",
        found[3], 1, true)
    end)

    it("take text with a tokenizer.model", function()
      if sentencepiece.missing then
        return pending(sentencepiece.missing)
      end
      local folder = scratch.path("published")
      local library = require("roper")
      local model = library.nn.Transformer({ vocabulary = 330, d_model = 8, heads = 2, layers = 1,
        position = "rope", logits_bias = "none" })
      library.export(model, folder)
      assert(os.execute(("cp '%stokenizer.model' '%s'"):format(FIXTURES, folder)))
      local _, task = library.import(folder)
      assert.equal("the cat\nsat", task:decode(task:encode("the cat\nsat")):match("the.*"))
      assert.matches("^the cat", roper("sample", folder, "the cat", "--tokens", "5")[2])
      assert.equal(0, roper("sample", folder, "--tokens", "5")[1])
      local text = "text=" .. scratch.write("cats.txt", ("the cat sat on the mat\n"):rep(30))
      assert.matches("^loss [%d.]+, perplexity [%d.]+, [%d.]+ bits per byte\n",
        roper("eval", folder, text, "length=9", "test_sequences=2")[2])
    end)

    it("reads what roper export writes for a run", function()
      local _, run_folder = train("exported_run", "copy", { position = "rope",
        logits_bias = "none" })
      local folder = scratch.path("exported")
      assert.same({ 0, "", "" }, roper("export", run_folder, folder))
      local runs = require("roper.workbench.study.run.runs")
      local one = runs.read(run_folder)
      local model = runs.model(one)
      local tokens = require("roper").tensor({ { 1, 5, 2, 3 } }, "int32")
      local difference = require("roper").import(folder)(tokens) - model(tokens)
      assert.is_true(difference:abs():max():item() < 1e-5)
      assert.truthy(roper("export", "--help")[2]:gsub("%s+", " "):find(
        "by default the option length of the model, for a run its longest sequence", 1, true))
      assert.equal(experiment.reach(one.config), require("roper.core").json_decode(
        scratch.read(folder .. "/config.json")).max_position_embeddings)
      refuses(1, "export: expected a new or empty folder", "export", run_folder, folder)
      refuses(1, "export: expected a model that the layout can describe:\n  gpt2: ", "export",
        run_folder, scratch.path("not_exported"), "--type", "gpt2")
    end)

    it("report fields and prompts that they cannot use", function()
      local folder = FIXTURES .. "llama"
      refuses(1, "eval: expected text=FILE", "eval", folder)
      refuses(1, "eval: unknown option txt; did you mean \"text\"?", "eval", folder, "text=x",
        "txt=x")
      refuses(1, "eval: option length: expected a positive integer, got \"x\"", "eval", folder,
        "text=x", "length=x")
      refuses(1, "text: no file or folder /no/such", "eval", folder, "text=/no/such")
      local ids = "text=" .. scratch.write("ids.txt", ("1 2 3 4 "):rep(30))
      refuses(1, "eval: length: expected rows of at most 33 tokens, for the 32 positions of this "
        .. "model, got 34", "eval", FIXTURES .. "gpt2", ids, "length=34")
      assert.equal(0, roper("eval", FIXTURES .. "gpt2", ids, "length=33")[1])
      refuses(1, "sample: expected a prompt, which this model needs", "sample", folder)
      refuses(1, "text: this model has no tokenizer; expected token ids from 0 to 12, got 13",
        "sample", folder, "1 13")
    end)
  end)
end)
