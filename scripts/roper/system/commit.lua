--- The git commit of the library's files. The build for pages replaces this file.
local process = require "roper.system.process"

-- An installed copy may lie inside a work tree that does not track it. describe --dirty would lock
-- the index, and leave the lock if this process is killed.
local COMMAND <const> = "{ cd '%s' && git ls-files --error-unmatch init.lua >&2 "
  .. "&& git describe --always --abbrev=12 --exclude='*' "
  .. "&& git --no-optional-locks status --porcelain --untracked-files=no; } 2>/dev/null"

local commit -- nil until the first query, false without one

--- The commit, with "-dirty" if the work tree has changes.
---@return string? commit nil if git does not track the files
return function()
  if commit == nil then
    local ok, text = pcall(process.output, COMMAND:format(
      require("roper.system.paths").LIBRARY:gsub("'", "'\\''")))
    local line, changes = (ok and text or ""):match "^(%x[%w-]*)\n(.?)"
    commit = line and line .. (changes ~= "" and "-dirty" or "") or false
  end
  return commit or nil
end
