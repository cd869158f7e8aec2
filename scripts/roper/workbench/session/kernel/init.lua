--- The session of a Jupyter notebook. kernel.py starts it as a child process and sends requests as
--- lines of JSON: {"execute": code}, {"complete": text before the cursor}, {"inspect": text before
--- the cursor}, {"banner": true}. The session writes its output and messages to standard output. A
--- message is a mark and a line of JSON, with the `kind` and `data` of an object to display, or
--- with the `reply` that ends a request.
local answers = require "roper.workbench.session.answers"
local core = require "roper.core"
local eval = require "roper.text.eval"

local M = {}

-- Calls a function without side effects, again if a Ctrl-C meant for the user's code ends it.
local function uninterrupted(f, ...)
  local ok, result
  repeat
    ok, result = eval.call(f, ...)
  until ok or not result.interrupted
  return ok and result or error(result.message, 0)
end

--- Answers requests until their end, or until the user leaves the session.
---@param descriptor integer from which requests are read
---@param token string after a record separator, the mark of messages
function M.serve(descriptor, token)
  local function write(message)
    io.stdout:write("\30", token, message, "\n")
    io.stdout:flush()
  end
  local requests <close> = assert(io.open("/dev/fd/" .. descriptor))
  local current = answers.session(_G, function(message) write(core.json_encode(message)) end)
  requests:setvbuf "no" -- interrupt_wait cannot see lines in a buffer
  io.stdout:setvbuf "line"
  core.interrupt_enable()
  while true do
    while not core.interrupt_wait(descriptor) do -- a late Ctrl-C
      core.interrupt_clear()
    end
    local line = requests:read "l"
    for kind, text in pairs(line and assert(uninterrupted(core.json_decode, line)) or {}) do
      local reply = answers.answer(current, kind, text)
      if current.is_over then
        return
      end
      write(uninterrupted(core.json_encode, { reply = reply }))
    end
    if not line then
      return
    end
  end
end

return M
