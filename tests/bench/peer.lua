--- The same model in PyTorch: in Debian's Python with two memory allocators, and in the Python that
--- PEER_PYTHON names in four configurations.
local child = require "tests.bench.child"
local core = require "roper.core"
local shapes = require "tests.bench.shapes"

local M = {}

local PYTHON <const> = "/usr/bin/python3"

-- An allocator that keeps freed blocks, under both its names, and settings that make glibc keep
-- them.
local LIBRARIES <const> = { "libtcmalloc_minimal.so.4", "libtcmalloc.so.4" }
local KEEP <const> = { MALLOC_MMAP_MAX_ = "0", MALLOC_TRIM_THRESHOLD_ = tostring(1 << 40),
  MALLOC_TOP_PAD_ = tostring(64 << 20) }

local function output_of(command)
  local pipe <close> = assert(io.popen(command .. " 2>/dev/null"))
  return pipe:read "a"
end

-- The version of a module of a Python; nil if it is not installed.
local function version_of(python, module)
  return output_of(("'%s' -c 'import %s as m; print(m.__version__)'"):format(
    (python:gsub("'", "'\\''")), module)):match "%S+"
end

-- The environment for an allocator that keeps freed blocks, and its name.
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

-- Debian's PyTorch with each allocator.
local function mallocs(version)
  local pooling, name = pool()
  return {
    { python = PYTHON, name = version .. ", default malloc", environment = {}, options = {} },
    { python = PYTHON, name = version .. ", " .. name, environment = pooling, options = {} },
  }
end

-- A later PyTorch, eager and compiled, with an allocator that keeps blocks.
local function ways(python, version, precisions)
  local pooling, list = pool(), {}
  for _, precision in ipairs(precisions) do
    for _, is_compiled in ipairs { false, true } do
      list[#list + 1] = { python = python, environment = pooling,
        name = ("%s, %s, %s"):format(version, is_compiled and "compiled" or "eager", precision),
        options = { precision = precision, is_compiled = is_compiled } }
    end
  end
  return list
end

--- The available peers: of Debian's Python if PyTorch is installed, and of PEER_PYTHON.
---
--- Errors: PEER_PYTHON names a program that has no PyTorch.
---@param precisions string[] of the peer of PEER_PYTHON
---@return table[] python, name (the version of PyTorch, and how it runs), environment, options each
function M.find(precisions)
  local version, found = version_of(PYTHON, "torch"), {}
  if version then
    found = mallocs(version)
  end
  local python = os.getenv "PEER_PYTHON"
  if python then
    version = version_of(python, "torch")
      or error(("PEER_PYTHON=%s: expected a Python with PyTorch"):format(python), 0)
    local list = ways(python, version, precisions)
    table.move(list, 1, #list, #found + 1, found)
  end
  return found
end

--- Start peers.
---@param peers table[] from `find`
---@param shape table
---@param threads integer
---@return table[] name and program, each
function M.start(peers, shape, threads)
  local entries = {}
  for i, peer in ipairs(peers) do
    local options = shapes.with(peer.options, { shape = shape, threads = threads })
    entries[i] = { name = peer.name, program = child.start({ peer.python, "tests/bench/peer.py",
      core.json_encode(options) }, peer.environment) }
  end
  return entries
end

--- Start the program that times generation by `transformers`, in float32.
---@param peers table[] from `find`
---@param shape table
---@param batch integer
---@param tokens integer
---@param threads integer
---@return Child? program nil without transformers in PEER_PYTHON
function M.start_generation(peers, shape, batch, tokens, threads)
  for _, peer in ipairs(peers) do
    if peer.options.precision == "float32" and version_of(peer.python, "transformers") then
      return child.start({ peer.python, "tests/bench/peer_generation.py",
        core.json_encode { shape = shape, batch = batch, tokens = tokens, threads = threads } },
        peer.environment)
    end
  end
  return nil
end

--- Start the program that times PyTorch's attention alone.
---@param peers table[] from `find`
---@param options table as for peer_attention.py
---@return Child? program nil without a PyTorch of PEER_PYTHON in this precision
function M.start_attention(peers, options)
  for _, peer in ipairs(peers) do
    if peer.options.precision == (options.precision or "float32") then
      return child.start({ peer.python, "tests/bench/peer_attention.py",
        core.json_encode(options) }, peer.environment)
    end
  end
  return nil
end

return M
