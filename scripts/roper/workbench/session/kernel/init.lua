--- The session of a Jupyter notebook. kernel.py starts it as a child process and sends requests as
--- lines of JSON: {"execute": code}, {"complete": text before the cursor}, {"inspect": text before
--- the cursor}, {"banner": true}. The session writes its output and messages to standard output. A
--- message is a mark and a line of JSON, with the `kind` and `data` of an object to display, or
--- with the `reply` that ends a request.
local core = require "roper.core"
local format = require "roper.text.format"
local markup = require "roper.text.markup"
local escape = require "roper.base.escape"
local session = require "roper.workbench.session.repl.session"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local mark -- precedes each message

local function send(message)
  io.stdout:write(mark, core.json_encode(message), "\n")
  io.stdout:flush()
end

-- A tensor as one HTML table for each matrix, below the first line of its text.
local function tensor_html(tensor, text)
  local parts = { h.div { text:match "^[^\n]*" } }
  require("roper.text.format.tensor").each_matrix(tensor, function(rows, label)
    parts[#parts + 1] = { label and h.div { label }, rows and h.table {
      tables.map(rows, function(row)
        local cells = type(row) == "table" and row or { row } -- one for omitted rows
        return h.tr { tables.map(cells, function(cell) return h.td { cell } end) }
      end) } }
  end)
  return markup.render(parts)
end

local function show(_, results, hint)
  local text, value = escape.text(format.results(results) .. hint), results[1]
  local is_table = results.n == 1 and format.is_tensor(value) and value:rank() > 0
    and value:count() > 0
  send { kind = "execute_result", data = { ["text/plain"] = text,
    ["text/html"] = is_table and tensor_html(value, text) or nil } }
end

local function show_plot(figure)
  send { kind = "display_data", data = { ["text/plain"] = figure.name,
    ["image/svg+xml"] = require("roper.workbench.plot.svg").render(figure) } }
end

local answers = {}

function answers.banner()
  return { text = require("roper.workbench.session.repl").versions() .. " · ? for help" }
end

function answers.execute(current, code)
  current.problem = nil
  local rest = current:feed(code)
  if rest then
    current:run(rest) -- reports the incomplete input
  end
  return { error = current.problem }
end

function answers.complete(current, text)
  local complete = require "roper.workbench.session.repl.complete"
  local names, length = complete.names(text, current.globals)
  return { names = core.json_array(names), start = utf8.len(text:sub(1, #text - length)) }
end

-- The help of the name at the end of a text, or before its open parenthesis.
function answers.inspect(current, text)
  local name = text:match "([%a_][%w_.:]*)[^%w_]*$"
  return { text = escape.text(require("roper.workbench.help").text(name or "", current.globals)) }
end

--- Answers requests until their end, or until the user leaves the session.
---@param descriptor integer from which requests are read
---@param token string after a record separator, the mark of messages
function M.serve(descriptor, token)
  mark = "\30" .. token
  local requests <close> = assert(io.open("/dev/fd/" .. descriptor))
  local current = session.new(_G)
  current.show = show
  current.report = function(self, failure)
    self.problem = escape.text(self:explain(failure))
  end
  require("roper.workbench.plot.output").on_screen = show_plot
  requests:setvbuf "no" -- interrupt_wait cannot see lines in a buffer
  io.stdout:setvbuf "line"
  core.interrupt_enable()
  while true do
    while not core.interrupt_wait(descriptor) do -- a late Ctrl-C
      core.interrupt_clear()
    end
    local line = requests:read "l"
    for kind, text in pairs(line and assert(core.json_decode(line)) or {}) do
      local ok, reply = pcall(answers[kind], current, text)
      if current.is_over then
        return
      end
      send { reply = ok and reply or { error = escape.text(tostring(reply)) } }
    end
    if not line then
      return
    end
  end
end

return M
