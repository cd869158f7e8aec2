-- Runs transcripts: documents of what a user types and what a terminal of 80 columns shows.
--
-- Lines with an indent of two are typed or shown; others are prose. `$ COMMAND` runs in a shell, in
-- an empty folder of its own that is also the home folder, `~`, and contains `roper`. It may be
-- continued after a backslash or by a here-document. A session (`$ ./roper`) or a lesson runs in
-- this process and reads the lines after its prompts: `| ` continues a pasted block, `^C` at the
-- end is Ctrl-C, and after the last line comes Ctrl-D. In expected output, `...` is any text within
-- a line; on a line of its own, any lines.

local uv = require("luv")

-- Modules find their files from another folder, too.
local ROOT <const> = uv.cwd()
for _, name in ipairs({ "path", "cpath" }) do
  package[name] = (";" .. package[name]):gsub(";%./", ";"):gsub(";([^;/])", ";" .. ROOT .. "/%1")
end

local cli = require("roper.workbench.session.cli")
local core = require("roper.core")
local process = require("tests.process")
local readers = require("roper.workbench.session.repl.reader")
local scoped = require("roper.base.scoped")
local temporary = require("roper.system.temporary")
local terminal = require("roper.text.terminal")

local M = {}

local ENVIRONMENT <const> = { TERM = "dumb", NO_COLOR = "1", OMP_NUM_THREADS = "1",
  XDG_CONFIG_HOME = false, XDG_STATE_HOME = false, XDG_CACHE_HOME = false, PAGER = false,
  EDITOR = false, VISUAL = false,
  PATH = os.getenv("PATH") }

-- Commands that run in this process.
local INTERACTIVE <const> = { "^%./roper$", "^%./roper lesson [%w_.][%w_./ -]*$" }

local COLUMNS <const> = 80

local Transcript = {}
Transcript.__index = Transcript

local function starts(text, head)
  return text and text:sub(1, #head) == head
end

local function trimmed(text)
  return (text:gsub("%s+$", ""))
end

-- The typed or shown text of a line; nil for prose.
function Transcript:code(i)
  local line = self.lines[i]
  return line == "" and line or line and line:match("^  (.*)")
end

-- The next line from `first` that starts with a prompt, up to the next command.
function Transcript:find(prompt, first)
  for i = first, #self.lines do
    local code = self:code(i)
    if starts(code, prompt) or code == trimmed(prompt) then
      return i
    elseif starts(code, "$ ") then
      return nil
    end
  end
end

-- Keeps the output since the last typed line. `next` is the next typed line; is_wrapped: of a
-- program that knows the width of its terminal.
function Transcript:keep(shown, next, is_wrapped)
  local last = self.at
  while last + 1 < next and self:code(last + 1) do
    last = last + 1
  end
  while last > self.at and self.lines[last] == "" do
    last = last - 1
  end
  local block = { typed = self.at, last = last, next = next, is_wrapped = is_wrapped,
    expected = {}, shown = {} }
  for i = self.at + 1, last do
    block.expected[i - self.at] = trimmed(self:code(i))
  end
  for line in (trimmed(shown) .. "\n"):gsub(self.folder, "~"):gmatch("([^\n]*)\n") do
    block.shown[#block.shown + 1] = trimmed(line)
  end
  block.shown = shown:find("%S") and block.shown or {}
  self.blocks[#self.blocks + 1] = block
end

-- Runs a shell command; returns its status and its output.
local function shell(command)
  local status, output = process.run({ "/bin/sh", "-c", "exec 2>&1\n" .. command })
  return status, output
end

-- Calls f with other fields of some tables, { table, fields }, and without the globals that it
-- defines afterwards.
local function with(changes, f)
  local before, metatable = {}, getmetatable(_G)
  for name, value in next, _G do
    before[name] = value
  end
  for i, change in ipairs(changes) do
    local old = {}
    for name, value in pairs(change[2]) do
      old[name], change[1][name] = change[1][name], value
    end
    changes[i][2] = old
  end
  return scoped.finally(f, function()
    for _, change in ipairs(changes) do
      for name, value in pairs(change[2]) do
        change[1][name] = value
      end
    end
    setmetatable(_G, metatable)
    for name in next, _G do
      _G[name] = before[name]
    end
  end)
end

-- Runs a command in this process. Its reader takes the lines after its prompts.
function Transcript:interact(command)
  local shown = {}
  local stream = { flush = function() end, setvbuf = function() end }
  function stream.write(_, ...)
    shown[#shown + 1] = table.concat({ ... })
    return stream
  end
  local reader = { remember = function() end }
  function reader.read(_, prompt)
    local output, open = table.concat(shown):match("^(.-)([^\n]*)$")
    local i = self:find(open .. prompt, self.at + 1)
    if not i then
      return nil
    end
    self:keep(output, i, true)
    local text = self:code(i):sub(#open + #prompt + 1)
    while starts(self:code(i + 1), "| ") or self:code(i + 1) == "|" do
      i = i + 1
      text = text .. "\n" .. self:code(i):sub(3)
    end
    self.at, shown = i, {}
    local discarded = text:match("^(.*)%^C$")
    if discarded then
      return readers.INTERRUPTED, discarded
    end
    return text
  end
  local function execute(line)
    local status, output = shell(line)
    stream:write(output)
    return status == 0 or nil, status > 128 and "signal" or "exit", status > 128 and status - 128
      or status
  end
  local function tmpname()
    local handle, path = assert(uv.fs_mkstemp(uv.cwd() .. "/XXXXXX"))
    uv.fs_close(handle)
    return path
  end
  local words = { [0] = "./roper" }
  for word in command:match("^%S+(.*)"):gmatch("%S+") do
    words[#words + 1] = word
  end
  local status
  with({
    { io, { stdout = stream, stderr = stream, write = function(...) stream:write(...) end } },
    { os, { tmpname = tmpname } },
    { require("roper.system.process"), { shell = execute } },
    { terminal, { is_terminal = function() return true end } },
    { readers, { new = function() return reader end } },
    { _G, { arg = words } },
  }, function() status = cli.main(words) end)
  return status, table.concat(shown)
end

-- Runs the command at a line; returns its status and the output after its last typed line.
function Transcript:command()
  local command = self:code(self.at):sub(3)
  for _, pattern in ipairs(INTERACTIVE) do
    if command:find(pattern) then
      return self:interact(command)
    end
  end
  local stop = command:match("<<'?(%u+)")
  while stop and self:code(self.at) ~= stop or command:find("\\$") do
    self.at = self.at + 1
    command = command .. "\n" .. assert(self:code(self.at), "a command has no end")
  end
  return shell(command)
end

-- The transcript of this run, with the places of its typed lines.
local function run(text)
  local self = setmetatable({ lines = {}, blocks = {}, at = 0 }, Transcript)
  for line in text:gmatch("([^\n]*)\n") do
    self.lines[#self.lines + 1] = line
  end
  temporary.with_folder(function(folder)
    folder = assert(uv.fs_realpath(folder))
    self.folder = folder:gsub("%p", "%%%0")
    local environment = { HOME = folder }
    for name, value in pairs(ENVIRONMENT) do
      environment[name] = value
    end
    local before = uv.os_environ()
    local function set(name, value)
      if value then
        uv.os_setenv(name, value)
      else
        uv.os_unsetenv(name)
      end
    end
    assert(uv.fs_symlink(ROOT .. "/roper", folder .. "/roper"))
    scoped.finally(function()
      for name, value in pairs(environment) do
        set(name, value)
      end
      uv.chdir(folder)
      core.random_state(0, 0)
      local next = self:find("$ ", 1)
      while next do
        self.at = next
        local status, output = self:command()
        next = self:find("$ ", self.at + 1)
        self:keep(output .. (status ~= 0 and ("[exit status %d]\n"):format(status) or ""),
          next or #self.lines + 1)
      end
    end, function()
      uv.chdir(ROOT)
      for name in pairs(environment) do
        set(name, before[name])
      end
    end)
  end)
  return self
end

-- Is a line as expected?
local function fits(expected, shown)
  return shown:find("^" .. expected:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", ".-") .. "$") ~= nil
end

-- Are the lines from j on as the expected lines from i on?
local function matches(expected, shown, i, j)
  if expected[i] == "..." then
    return matches(expected, shown, i + 1, j)
      or shown[j] ~= nil and matches(expected, shown, i, j + 1)
  elseif not expected[i] or not shown[j] then
    return expected[i] == shown[j]
  end
  return fits(expected[i], shown[j]) and matches(expected, shown, i + 1, j + 1)
end

-- The line for a file: one of the expected lines if it fits.
local function kept(expected, line)
  for _, pattern in ipairs(expected) do
    if pattern ~= "..." and fits(pattern, line) then
      return pattern
    end
  end
  return line
end

--- Runs a transcript.
---@param text string
---@return string? problems what differs; nil if nothing does
---@return string text with the output of this run where the expected output differs
function M.check(text)
  local self = run(text)
  local problems, lines, done = {}, {}, 0
  local function copy(last)
    table.move(self.lines, done + 1, last, #lines + 1, lines)
    done = last
  end
  for _, block in ipairs(self.blocks) do
    copy(block.typed)
    if not matches(block.expected, block.shown, 1, 1) then
      problems[#problems + 1] = ("line %d: %s\nexpected\n%s\ngot\n%s"):format(block.typed,
        self.lines[block.typed], table.concat(block.expected, "\n"),
        table.concat(block.shown, "\n"))
      for _, line in ipairs(block.shown) do
        lines[#lines + 1] = line ~= "" and "  " .. kept(block.expected, line) or ""
      end
      done = block.last
    end
    for _, line in ipairs(block.shown) do
      local is_error = line:find("^[%l ]+: ") or line:find("^\t")
      if block.is_wrapped and not is_error and (utf8.len(line) or #line) > COLUMNS then
        problems[#problems + 1] = ("line %d: wider than the terminal: %s"):format(block.typed, line)
      end
    end
    for i = block.last + 1, block.next - 1 do
      if (self:code(i) or "") ~= "" then
        problems[#problems + 1] = ("line %d: not typed and not shown: %s"):format(i, self.lines[i])
      end
    end
  end
  copy(#self.lines)
  return problems[1] and table.concat(problems, "\n\n"), table.concat(lines, "\n") .. "\n"
end

return M
