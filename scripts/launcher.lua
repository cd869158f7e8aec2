#!/usr/bin/env lua5.4
-- Starts roper with the files of the folder this file lies in (symbolic links are
-- followed), or below PREFIX where it was installed as PREFIX/bin/roper.
local root = require("luv").fs_realpath(arg[0]):match "^(.*)/[^/]*$"
local lua = ("%s/scripts/?.lua;%s/scripts/?/init.lua"):format(root, root)
local c = root .. "/build/?.so"
if not package.searchpath("roper.cli", lua) then
  local prefix = root:match "^(.*)/[^/]*$"
  lua = ("%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua"):format(prefix, prefix)
  c = prefix .. "/lib/lua/5.4/?.so"
end
package.path = lua .. ";" .. package.path
package.cpath = c .. ";" .. package.cpath
os.exit(require("roper.cli").main(arg), true)
