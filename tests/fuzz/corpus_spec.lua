-- The kept input of the fuzzers, past crashes among them, is read without a crash.

local core = require("roper.core")
local roper = require("roper")
local uv = require("luv")

local FOLDER <const> = "tests/fuzz/corpus/"
local READERS <const> = { json = function(path)
  local file <close> = assert(io.open(path, "rb"))
  return core.json_decode(file:read("a"))
end, npy = roper.load_npy, safetensors = roper.load_safetensors, tokens = core.corpus_open }

describe("the corpus of", function()
  for name, read in pairs(READERS) do
    it(name .. " gives values or messages", function()
      local count = 0
      for file in uv.fs_scandir_next, assert(uv.fs_scandir(FOLDER .. name)) do
        local ok, message = pcall(read, FOLDER .. name .. "/" .. file)
        count = count + 1
        assert.is_true(ok or type(message) == "string" and #message > 0, file)
      end
      assert.is_true(count > 0)
    end)
  end
end)
