--- The command line: `./roper`, `./roper FILE`, `./roper -e CODE`, `./roper COMMAND`.
local M = {}

local OK <const>, FAILED <const>, MISUSED <const>, INTERRUPTED <const> = 0, 1, 2, 130

-- Each is a module roper.workbench.session.command.NAME that returns a table: `summary`, a line for
-- the help; `define`, a function that adds arguments to a command of argparse; `run`, a function of
-- the parsed arguments, which returns a message if they are wrong.
local COMMANDS <const> = { "train", "eval", "sample", "export", "sweep", "runs", "watch", "report",
  "study", "lesson", "kernel" }

--- Names of the commands.
M.COMMANDS = COMMANDS

local USAGE <const> = [[
Usage: roper                     start a session, or run a script from a pipe
       roper FILE [ARGUMENT]...  run a script; - is standard input
       roper -e CODE             run a line and print its value
       roper COMMAND [...]       run a command; roper help COMMAND explains it
       roper --help | --version]]

local EPILOG <const> = [[
Lua's require does not search the current folder, even if LUA_PATH has a
relative entry. It searches the folders that contain FILE, the files given by
--load, and a file given to sweep.]]

local function fail(message)
  require("roper.text.terminal").report("roper", message)
  return FAILED
end

local function misuse(message, command)
  fail(message)
  io.stderr:write("Try roper ", command and command .. " " or "", "--help.\n")
  return MISUSED
end

local function set_globals()
  require("roper.workbench.session.repl.globals").define(_G)
end

-- Calls a function that Ctrl-C can interrupt, and reports its error. Returns the status and the
-- result. Under mpirun, one process reports the error or returns the result.
local function run(action, ...)
  local core = require "roper.core"
  local eval = require "roper.text.eval"
  set_globals()
  core.interrupt_enable()
  local ok, result = eval.call(action, ...)
  core.interrupt_disable()
  local ranks, reports, name = package.loaded["roper.training.ranks"], true, ""
  if ranks then
    reports, name = ranks.leave(not ok and result or nil)
  end
  if ok then
    return OK, reports and result or nil
  elseif reports then
    fail(name .. (result.interrupted and "interrupted" or result.message .. eval.trace(result)))
  end
  return result.interrupted and INTERRUPTED or FAILED
end

-- Runs a script: a path, or nil for standard input.
local function run_script(path, arguments)
  local action, message = loadfile(path)
  if not action then
    return fail(message)
  end
  _G.arg = arguments
  if path then
    require("roper.system.module_path").add_folder_of(path)
  end
  return (run(action, table.unpack(arguments)))
end

-- Runs the code of -e and prints the values of an expression, or the help that ?name requests.
local function run_line(text)
  local eval = require "roper.text.eval"
  set_globals()
  require("roper.workbench.session.repl.globals").prepare(_G)
  local diagnostics = require "roper.text.diagnostics"
  diagnostics.sources["-e"] = text
  local question = require("roper.workbench.session.repl.commands").question(text, _G)
  if question then
    return (run(question, { globals = _G }))
  end
  local action, _, message = eval.compile(text, "-e", _G)
  if not action then
    return fail(diagnostics.bare(message).message)
  end
  return (run(function()
    local results = table.pack(action())
    if results.n > 0 then
      io.stdout:write(require("roper.text.format").results(results), "\n")
    end
  end))
end

local function run_session()
  if require("roper.text.terminal").is_terminal(io.stdin) then
    set_globals()
    require("roper.workbench.session.repl").run()
    return OK
  end
  return run_script(nil, { [0] = "-" })
end

-- Serves a notebook; started by kernel.py.
local function run_notebook(descriptor, token)
  set_globals()
  require("roper.workbench.session.kernel").serve(descriptor, token)
  return OK
end

--- The parser of the command line, with the arguments of the command `chosen` only.
---@param chosen string?
---@return table whole of argparse
---@return table? command the parser of the command
function M.parser(chosen)
  local argparse, found = require "argparse", nil
  local whole = argparse("roper", "A workbench for rotary position encodings."):usage(USAGE)
    :help_max_width(80)
    :epilog(EPILOG)
  whole:option("-e", "Run a line of Lua and print its value."):argname "CODE"
  whole:flag("--version", "Print the version.")
  whole:command_target "command"
  for _, name in ipairs(COMMANDS) do
    local module = require("roper.workbench.session.command." .. name)
    local command = whole:command(name, module.summary)
    if name == chosen then
      found = command
      module.define(command)
      command:option("--load"):argname("FILE"):count("*"):target("load")
        :description("A Lua file to run first, such as one that registers a position scheme, a "
          .. "task, an experiment or a model.")
    end
  end
  return whole, found
end

-- Runs the files of --load before help is printed, which lists their names.
local function load_for_help(arguments)
  local words = require("roper.base.tables").set(arguments)
  for i, word in ipairs((words["--help"] or words["-h"]) and arguments or {}) do
    if arguments[i - 1] == "--load" then
      require("roper.options.load_option").run(word)
    end
  end
end

local function run_command(arguments)
  local status, problem = run(function()
    load_for_help(arguments)
    local ok, parsed = M.parser(arguments[1]):pparse(arguments)
    if not ok then
      return parsed
    end
    for _, path in ipairs(parsed.load) do
      require("roper.options.load_option").run(path)
    end
    return require("roper.workbench.session.command." .. parsed.command).run(parsed)
  end)
  return problem and misuse(problem, arguments[1]) or status
end

-- Reports that the first word is not a command, a file or an option.
local function refuse(name)
  local known = table.move(COMMANDS, 1, #COMMANDS, 5, { "-e", "help", "--help", "--version" })
  local hint = require("roper.base.suggest").hint(name, known)
  return misuse(("'%s' is not a command, an option or a file%s"):format(name, hint))
end

local function is_command(name)
  return require("roper.base.tables").set(COMMANDS)[name] == true
end

local function run_help(name)
  if name and not is_command(name) then
    return refuse(name)
  elseif name then
    return run_command { name, "--help" }
  end
  io.stdout:write(M.parser():get_help(), "\n")
  return OK
end

local function dispatch(arguments)
  local first = arguments[1]
  if first == nil then
    return run_session()
  elseif is_command(first) then
    return run_command(arguments)
  elseif first == "-e" then
    return #arguments == 2 and run_line(arguments[2]) or misuse "-e takes one argument: the code"
  elseif first == "--kernel" and #arguments == 3 and math.tointeger(arguments[2]) then
    return run_notebook(math.tointeger(arguments[2]), arguments[3])
  elseif first == "--version" then
    io.stdout:write("roper ", require("roper").version, "\n")
    return OK
  elseif first == "--help" or first == "-h" then
    return run_help()
  elseif first == "help" then
    return run_help(arguments[2])
  elseif first == "--complete" then -- used by completion.bash
    local completion = require "roper.workbench.session.completion"
    for _, word in ipairs(completion.words(arguments[2] or "", COMMANDS)) do
      io.stdout:write(word, "\n")
    end
    return OK
  elseif first == "-" or require("roper.system.file").exists(first) then
    local rest = table.move(arguments, 2, #arguments, 1, { [0] = first })
    return run_script(first ~= "-" and first or nil, rest)
  end
  return refuse(first)
end

--- Runs a command line.
---@param arguments string[] as Lua's `arg`
---@return integer status 0: success; 1: failure, or standard output cannot be written; 2: wrong
---   usage; 130: ended by Ctrl-C
function M.main(arguments)
  local loaded, problem = pcall(require, "roper.core")
  if not loaded then -- not built, no kernels for this machine, or a wrong ROPER_KERNELS
    local is_missing = tostring(problem):find("module 'roper.native' not found", 1, true)
    io.stderr:write(is_missing and "roper: expected a build, found no roper/native.so; run: make"
      or tostring(problem), "\n")
    return FAILED
  end
  local status = dispatch(arguments)
  if not require("roper.core").output_kept() then
    fail "cannot write all of standard output"
    return status == OK and FAILED or status
  end
  return status
end

return M
