-- The readers of stored files in Lua: runs, checkpoints, published models and SentencePiece models.
-- In the form of parsers.lua.

local core = require("roper.core")
local files = require("tests.fuzz.files")
local foreign = require("roper.tasks.text.foreign")
local metrics = require("roper.training.metrics")
local pieces = require("roper.tasks.text.model")
local roper = require("roper")
local subprocess = require("roper.system.process")

local M = {}

local config = roper.experiment.configure("addition", { preset = "smoke" })
local run = files.folder("./a_run")

local LITERALS <const> = { "null", "{}", "[]", "[[1]]", "[1, 2, 3]", '{"a": 1}', "true", "0", "-1",
  "1.5", "3", "1e308", "9223372036854775807", '""', '"x"', '"1"' }
local CONFIG <const> = core.json_encode({ config = config,
  provenance = { { version = roper.version, step = 0, threads = 1 } } })
local RESULT <const> = core.json_encode({ config = config, loss = 2.5, seconds = 1,
  by_position = { { first = 1, last = 2, accuracy = 0.5 } }, longer = { { name = "longer" } },
  by_distance = core.json_array() })

-- A reader of a file of the run.
local function in_run(name, corpus)
  return { corpus = corpus, literals = LITERALS, run = function(text)
    files.write(run .. "/config.json", CONFIG)
    files.write(run .. "/result.json", RESULT)
    files.write(run .. "/" .. name, text)
    roper.runs.read(run)
    roper.runs.find(run)
  end }
end

M.configurations = in_run("config.json", { CONFIG })
M.results = in_run("result.json", { RESULT })
M.samples = in_run("samples.json", { core.json_encode({ sampled = { { question = "1+1=",
  answer = "2", text = "3", solved = false } }, greedy = core.json_array() }) })
M.claims = in_run("lease-0001.json", {
  '{"owner": {"host": "a", "pid": 12, "boot": "b", "start": 1}, "state": "failed"}' })
M.metrics = {
  corpus = { '{"step": 1, "loss": 2.5, "seconds": 0.5}\n{"step": 2, "loss": 2.25}\n{"st' },
  run = function(text)
    metrics.read(files.write("./metrics.jsonl", text))
  end,
}

-- A reader of a safetensors file with another header, which gets its right length.
local function with_header(path, read)
  local content = files.read(path)
  local length = ("<I8"):unpack(content)
  local data = content:sub(9 + length)
  return { corpus = { content:sub(9, 8 + length) }, literals = LITERALS, run = function(header)
    read(files.write("./changed.safetensors", ("<I8"):pack(#header) .. header .. data))
  end }
end

local task = roper.tasks.addition({ max_digits = 2, length = 20 })
local model = roper.nn.Transformer({ vocabulary = task:vocabulary(), d_model = 8, layers = 1,
  heads = 2 })
model:save("./model.safetensors")
M.models = with_header("./model.safetensors", function(path)
  if math.random(2) == 1 then
    model:load(path)
  else
    roper.load(path)
  end
end)

local state = { model = model, optimizer = roper.optim.Adam(), task = task, config = {}, step = 5,
  steps = 10, sum = 0, count = 0 }
roper.checkpoint.save_training("./training.safetensors", state)
M.checkpoints = with_header("./training.safetensors", function(path)
  roper.checkpoint.training_step(path)
  roper.checkpoint.load_training(path, state)
end)

local published = files.folder("./published")
local names = { "gpt2", "llama_yarn", "pythia_sequential", "qwen2" }
for _, name in ipairs(names) do
  local source = "tests/fixtures/published/" .. name
  local weights = files.read(source .. "/model.safetensors")
  M["published_" .. name] = { corpus = { files.read(source .. "/config.json") },
    literals = LITERALS, run = function(text)
      files.write(published .. "/config.json", text)
      files.write(published .. "/model.safetensors", weights)
      roper.import(published)
    end }
end

local has_program = subprocess.has("spm_encode")
local whole = files.read("tests/fixtures/published/tokenizer.model")
M.pieces = {
  corpus = { whole },
  run = function(data)
    pieces.read_any(data, "a.model")
    local path = files.write("./a.model", data)
    if has_program and math.random(20) == 1 then
      foreign.new(path, true):encode("some words")
    end
    pieces.read(data, "a.model")
  end,
}

if has_program then
  local tokenizer = foreign.new(files.write("./whole.model", whole), true)
  M.encoded = {
    corpus = { "some words", " two  spaces", "é\u{2581}\u{E000}\u{10FFFF}", "a\nb\tc" },
    run = function(text)
      local ids = tokenizer:encode(text)
      local fit = ids:dtype() == "int32" and ids:ge(0):all() and ids:lt(#tokenizer.words):all()
      return not fit and "ids outside the vocabulary" or nil
    end,
  }
end

return M
