--- The `print` of sessions.
local format = require "roper.base.format"

--- Lua's print, but tables print as at the prompt. Scripts have Lua's own print.
---
---     > print("sizes", {2, 3})
---     sizes	{2, 3}
---@param ... any
local function print(...)
  local texts = table.pack(...)
  for i = 1, texts.n do
    local metatable = debug.getmetatable(texts[i])
    local has_text = type(metatable) == "table" and rawget(metatable, "__tostring")
    texts[i] = type(texts[i]) == "table" and not has_text and format.value(texts[i])
      or tostring(texts[i])
  end
  io.stdout:write(table.concat(texts, "\t"), "\n")
end

return print
