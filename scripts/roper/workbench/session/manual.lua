--- The manual page roper(1), generated from the help of the command line.
local cli = require "roper.workbench.session.cli"
local files = require "roper.base.file"
local version = require "roper.base.version"

local M = {}

-- The sections that help does not have.
local HEAD <const> = [[
.SH NAME
roper \- workbench for rotary position encodings
.SH SYNOPSIS
.nf
%s
.fi
.SH DESCRIPTION
roper compares position encodings of transformers: RoPE, RoPER and many others.
Without arguments, it starts a session in which lines of Lua are run and
.BI ? name
prints the help of a function.
A command trains models, runs sweeps and studies, writes reports, or plays a
lesson.
All functions are also available in Lua scripts as the module
.BR roper .
]]

local TAIL <const> = [[
.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
Failure, or standard output cannot be written.
.TP
.B 2
Wrong usage.
.TP
.B 130
Ended by Ctrl-C. Finished steps of a training are kept.
.SH ENVIRONMENT
.TP
.B ROPER_KERNELS
Instruction set of the kernels, such as portable.
The default is the best of this machine.
.TP
.B OMP_NUM_THREADS
Number of threads.
.TP
.B PAGER
Program that shows long texts.
.TP
.B NO_COLOR
If it is set, no colours are printed.
.SH FILES
.TP
.I runs/
Runs and sweeps, in the current folder.
.TP
.I $XDG_CONFIG_HOME/roper/init.lua
Lua code that runs at the start of a session.
The default of XDG_CONFIG_HOME is ~/.config.
.TP
.I $XDG_STATE_HOME/roper/
History of sessions and progress in lessons.
The default of XDG_STATE_HOME is ~/.local/state.
.TP
.I $XDG_CACHE_HOME/roper/
Tokens of texts. The default of XDG_CACHE_HOME is ~/.cache.
.SH SEE ALSO
.BR lua5.4 (1)
]]

-- A text with its characters escaped for roff.
local function escaped(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("%f[^\n\0]([.'])", "\\&%1"))
end

-- The blocks of a help text, which are separated by empty lines.
local function blocks_of(help)
  local blocks = {}
  for block in (help .. "\n\n"):gmatch "(.-)\n\n+" do
    blocks[#blocks + 1] = block
  end
  return blocks
end

-- The entries of a block such as "Options:" as roff. An entry is indented by 3 columns; its
-- description begins after two spaces or in the next line, indented further.
local function entries_of(block)
  local out = {}
  for line in block:gmatch "[^\n]+" do
    local label, text = line:match "^   (%S.*)$", line:match "^    +(.*)$"
    if label then
      label, text = (label .. "  "):match "^(.-)  +(.*)$"
      out[#out + 1] = ".TP\n.B " .. escaped(label)
    end
    if text and text ~= "" then
      out[#out + 1] = escaped((text:gsub("%s+$", "")))
    end
  end
  return table.concat(out, "\n")
end

-- The blocks of a help text after its usage and summary.
local function described(blocks, level)
  local out = {}
  for i = 3, #blocks do
    local title, entries = blocks[i]:match "^(%u%l+):\n(.*)$"
    out[#out + 1] = title and level(title) .. "\n" .. entries_of(entries)
      or ".PP\n" .. escaped(blocks[i])
  end
  return table.concat(out, "\n")
end

local function section(title)
  return ".SH " .. title:upper()
end

local function part(title)
  return (".PP\n%s:"):format(title)
end

-- The part of the page on a command.
local function command_of(name)
  local _, command = cli.parser(name)
  local blocks = blocks_of(command:get_help())
  return (".SS %s\n%s\n.PP\n.nf\n%s\n.fi\n%s"):format(name, escaped(blocks[2]),
    escaped(blocks[1]:gsub("^Usage: ", "")), described(blocks, part))
end

--- The page.
---@param date string
---@return string roff with the macros of man
function M.page(date)
  local whole = cli.parser()
  local blocks = blocks_of(whole:get_help())
  local out = { (".TH ROPER 1 %s \"roper %s\"\n%s%s"):format(date, version,
    HEAD:format(escaped((blocks[1]:sub(#"Usage: " + 1):gsub("\n +roper", "\nroper")))),
    described(blocks, section)) }
  out[#out + 1] = ".SH COMMANDS IN DETAIL"
  for _, name in ipairs(cli.COMMANDS) do
    out[#out + 1] = command_of(name)
  end
  return table.concat(out, "\n") .. "\n" .. TAIL
end

--- Writes the page, with the date in SOURCE_DATE_EPOCH or of today.
---@param path string
function M.write(path)
  local seconds = math.tointeger(tonumber(os.getenv "SOURCE_DATE_EPOCH")) or os.time()
  files.write(path, M.page(os.date("!%Y-%m-%d", seconds)))
end

return M
