--- The answers of a session without a terminal to requests in code: values, figures and errors are
--- sent as messages. Notebooks and pages use it.
--
-- A message is an object to display, {kind, data: MIME type to text}.
local escape = require "roper.base.escape"
local format = require "roper.text.format"
local markup = require "roper.text.markup"
local session = require "roper.workbench.session.repl.session"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local h = markup.h

local M = {}

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

--- Creates a session that sends messages.
---@param globals table
---@param send fun(message: table)
---@return table session
function M.session(globals, send)
  local current = session.new(globals)
  function current.show(_, results, hint)
    local text, value = escape.text(format.results(results) .. hint), results[1]
    local is_table = results.n == 1 and format.is_tensor(value) and value:rank() > 0
      and value:count() > 0
    send { kind = "execute_result", data = { ["text/plain"] = text,
      ["text/html"] = is_table and tensor_html(value, text) or nil } }
  end
  function current:report(failure)
    self.problem = escape.text(self:explain(failure))
  end
  require("roper.workbench.plot.output").on_screen = function(figure)
    send { kind = "display_data", data = { ["text/plain"] = figure.name,
      ["image/svg+xml"] = require("roper.workbench.plot.svg").render(figure) } }
  end
  return current
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

function answers.is_complete(current, code)
  local _, rest = require("roper.workbench.session.repl.input").read(code, current.globals)
  return { complete = rest == nil }
end

function answers.complete(current, text)
  local complete = require "roper.workbench.session.repl.complete"
  local names, length = complete.names(text, current.globals)
  return { names = require("roper.core").json_array(names),
    start = utf8.len(text:sub(1, #text - length)) }
end

function answers.inspect(current, text)
  local complete = require "roper.workbench.session.repl.complete"
  return { text = escape.text(complete.help(text, current.globals)) }
end

--- Answers a request.
---@param current table a session of this module
---@param kind "execute"|"is_complete"|"complete"|"inspect"|"banner"
---@param text any code, or the text before the cursor
---@return table reply error: of execute, if the code failed, or of a request that cannot be
---   answered; complete: of is_complete; names, start: of complete; text: of inspect and banner
function M.answer(current, kind, text)
  local answer = answers[kind]
  if not answer then
    return { error = escape.text(("answer: unknown request %s%s"):format(kind,
      suggest.hint(tostring(kind), tables.keys(answers), "there are"))) }
  end
  local ok, reply = pcall(answer, current, text)
  return ok and reply or { error = escape.text(tostring(reply)) }
end

return M
