#!/usr/bin/env lua5.4
-- Starts roper with the files of the folder this file lies in (symbolic links are
-- followed), or below PREFIX if it was installed as PREFIX/bin/roper.

-- Modules come from no folder that depends on where this is run, whether it is named by Lua's
-- default path or by LUA_PATH: anybody may have put a luv.lua there.
for _, name in ipairs { "path", "cpath" } do
  local absolute = {}
  for entry in package[name]:gmatch "[^;]+" do
    absolute[#absolute + 1] = entry:find "^/" and entry or nil
  end
  package[name] = table.concat(absolute, ";")
end

-- A closed standard stream would give its descriptor to the next file, which luv takes for a
-- fault of its own when it closes it. Reading ends at once there; writing fails, as it did.
local EBADF, placeholders = 9, {}
for _, stream in ipairs { io.stdin, io.stdout, io.stderr } do
  local _, _, code = stream:seek()
  if code == EBADF then
    placeholders[#placeholders + 1] = io.open "/dev/null"
  end
end

-- luarocks may have installed luv beside this program, in a tree that Lua does not search.
local tree = arg[0]:match "^(/.*)/bin/[^/]*$"
if tree then
  local share = tree .. "/share/lua/5.4/"
  package.path = ("%s;%s?.lua;%s?/init.lua"):format(package.path, share, share)
  package.cpath = ("%s;%s/lib/lua/5.4/?.so"):format(package.cpath, tree)
end

-- Without descriptors for its loop, luv cannot be loaded, and closing Lua would abort the process.
local ok, uv = pcall(require, "luv")
if not ok then
  io.stderr:write("roper: ", uv, "\n")
  os.exit(1)
end

local root = assert(uv.fs_realpath(arg[0])):match "^(.*)/[^/]*$"
local lua = ("%s/scripts/?.lua;%s/scripts/?/init.lua"):format(root, root)
local c = root .. "/build/?.so"
if not package.searchpath("roper.workbench.session.cli", lua) then
  local prefix = root:match "^(.*)/[^/]*$"
  lua = ("%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua"):format(prefix, prefix)
  c = prefix .. "/lib/lua/5.4/?.so"
end
package.path = lua .. ";" .. package.path
package.cpath = c .. ";" .. package.cpath
-- A program that contains Lua has run this file, and shows its own name.
rawset(arg, 0, rawget(package, "program") or arg[0])
os.exit(require("roper.workbench.session.cli").main(arg), true)
