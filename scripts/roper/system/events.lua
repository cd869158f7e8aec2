--- Waits for signals, keys and time.
local uv = require "luv"

local M = {}

-- luv crashes at exit if a handle is still closing.
local function close(handles)
  for _, handle in ipairs(handles) do
    handle:close()
  end
  uv.run "nowait"
end

---@class Events
---@field signals string[] names such as "sigint"
---@field on_signal fun(): boolean? called for each of them; true ends the loop
---@field on_keys? fun(text: string?): boolean? called with what is typed at the terminal of
---   standard input, each key at once and without an echo, and with nil at its end; true ends the
---   loop
---@field tick fun(): integer? called at once; returns the milliseconds until the next call, or nil
---   to end the loop

--- Calls functions until one of them ends the loop. They must not raise errors.
---@param events Events
function M.run(events)
  local handles, is_done = {}, false
  local function finish(if_true)
    if if_true then
      is_done = true
      uv.stop() -- the loop would wait for the next event
    end
  end
  local function add(handle)
    handles[#handles + 1] = handle
    return handle
  end
  for _, name in ipairs(events.signals) do
    add(uv.new_signal()):start(name, function()
      finish(events.on_signal())
    end)
  end
  if events.on_keys then
    local keys = add(uv.new_tty(0, true))
    keys:set_mode(1)
    keys:read_start(function(_, text)
      finish(events.on_keys(text))
    end)
  end
  uv.update_time()
  local timer = add(uv.new_timer())
  local function tick()
    local pause = events.tick()
    finish(not pause)
    if pause then
      timer:start(pause, 0, tick)
    end
  end
  timer:start(0, 0, tick)
  while not is_done do
    uv.run "once"
  end
  M.reset_keys()
  close(handles)
end

--- Lets the terminal read lines again, as before `run`.
M.reset_keys = uv.tty_reset_mode

--- Discards the keys that were typed so far.
function M.discard_keys()
  -- A terminal of its own: luv would change the standard input of programs that are run later.
  local file = uv.fs_open("/dev/tty", "r+", 0)
  local keys = file and uv.new_tty(file, true)
  if keys then
    keys:set_mode(1) -- raw, so that incomplete lines are read, too
    keys:read_start(function() end)
    uv.run "nowait"
    keys:set_mode(0)
    close { keys }
  end
end

return M
