--- The same model in PyTorch, with two ways to get memory.
local child = require "tests.bench.child"
local core = require "roper.core"

local M = {}

local PYTHON <const> = "/usr/bin/python3"

-- A library that keeps freed blocks, under both its names, and what makes glibc's malloc keep them.
local LIBRARIES <const> = { "libtcmalloc_minimal.so.4", "libtcmalloc.so.4" }
local KEEP <const> = { MALLOC_MMAP_MAX_ = "0", MALLOC_TRIM_THRESHOLD_ = tostring(1 << 40),
  MALLOC_TOP_PAD_ = tostring(64 << 20) }

local function output_of(command)
  local pipe <close> = assert(io.popen(command .. " 2>/dev/null"))
  return pipe:read "a"
end

--- The version of PyTorch, or nil where Python or PyTorch is not installed.
---@return string?
function M.version()
  return output_of(PYTHON .. " -c 'import torch; print(torch.__version__)'"):match "%S+"
end

-- The environment of a malloc that keeps what is freed, and its name.
local function pool()
  local libraries = output_of "/sbin/ldconfig -p"
  for _, name in ipairs(LIBRARIES) do
    local path = libraries:match(name:gsub("%p", "%%%0") .. " [^\n]*=> (%S+)")
    if path then
      return { LD_PRELOAD = path }, name
    end
  end
  return KEEP, "glibc's malloc told to keep freed blocks"
end

--- Start the peer once with each malloc.
---@param shape table
---@param threads integer
---@return table[] malloc (its name) and program, each
function M.start(shape, threads)
  local options = core.json_encode { shape = shape, threads = threads }
  local peers = {}
  local pooling, name = pool()
  for i, kind in ipairs { { {}, "default malloc" }, { pooling, name } } do
    peers[i] = { malloc = kind[2],
      program = child.start({ PYTHON, "tests/bench/peer.py", options }, kind[1]) }
  end
  return peers
end

return M
