--- The session of a notebook. Jupyter's side, kernel.py, starts it as a child and asks by lines of
--- JSON: {"execute": code}, {"complete": text up to the cursor}, {"inspect": such a text}. What the
--- session prints goes to standard output as ever, between messages: a mark and a line of JSON with
--- `kind` and `data` of something to show, or with the `reply` that ends an answer.
local core = require "roper.core"
local format = require "roper.base.format"
local markup = require "roper.base.markup"
local escape = require "roper.base.escape"
local session = require "roper.workbench.session.repl.session"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

local mark -- what stands before each message

local function send(message)
  io.stdout:write(mark, core.json_encode(message), "\n")
  io.stdout:flush()
end

-- A tensor as a table for each of its matrices, below what its text has above the elements.
local function tensor_html(tensor, text)
  local parts = { h.div { text:match "^[^\n]*" } }
  require("roper.base.format.tensor").each_matrix(tensor, function(rows, label)
    rows = tensor:rank() == 1 and { rows } or rows
    parts[#parts + 1] = { label and h.div { label }, rows and h.table {
      tables.map(rows, function(row)
        local cells = type(row) == "table" and row or { row } -- one where rows are left out
        return h.tr { tables.map(cells, function(cell) return h.td { cell } end) }
      end) } }
  end)
  return markup.render(parts)
end

-- Show the results of an expression.
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

function answers.execute(current, code)
  current.problem = nil
  local rest = current:feed(code)
  if rest then
    current:run(rest) -- tells what is missing
  end
  return { error = current.problem }
end

function answers.complete(current, text)
  local complete = require "roper.workbench.session.repl.complete"
  local names, length = complete.names(text, current.globals)
  return { names = core.json_array(names), start = utf8.len(text:sub(1, #text - length)) }
end

-- The help of the name at the end of a text, or before the parenthesis that is open there.
function answers.inspect(current, text)
  local name = text:match "([%a_][%w_.:]*)[^%w_]*$"
  return { text = escape.text(require("roper.workbench.help").text(name or "", current.globals)) }
end

--- Answer requests until they end, or the person of the session leaves.
---@param descriptor integer where requests are read
---@param token string that stands after a record separator before each message
function M.serve(descriptor, token)
  mark = "\30" .. token
  local requests <close> = assert(io.open("/dev/fd/" .. descriptor))
  local current = session.new(_G)
  current.show = show
  current.tell = function(self, failure)
    self.problem = escape.text(self:explain(failure))
  end
  require("roper.workbench.plot.output").on_screen = show_plot
  requests:setvbuf "no" -- interrupt_wait cannot see lines in a buffer
  io.stdout:setvbuf "line"
  core.interrupt_enable()
  while true do
    while not core.interrupt_wait(descriptor) do -- a Ctrl-C that came too late
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
