-- Installs roper, or removes an installation: see the targets install and uninstall of Makefile.
-- Arguments: the action, install or uninstall, and NAME=VALUE for destdir and prefix; to install,
-- also for luadir, moduledir, bindir, libdir, build and version. parts=program leaves out
-- the C library.
--
-- The record in PREFIX/share/roper lists the folders that did not exist before, the outer ones
-- first, and the installed files. It is written before the files, so that an interrupted
-- installation can be removed, too.
local uv = require "luv"

local set = {}
for i = 2, #arg do
  local name, value = arg[i]:match "^(%w+)=(.*)$"
  set[name] = value:gsub("(.)/+$", "%1")
end
assert(set.prefix:find "^/", "PREFIX must be an absolute path")
local RECORD <const> = set.prefix .. "/share/roper/installed"

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

-- The place of an installed file, below DESTDIR.
local function staged(path)
  return set.destdir .. path
end

-- The kind of a file, of the link itself for a symbolic link; nil if there is none.
local function kind_of(path)
  local stat, message, code = uv.fs_lstat(path)
  assert(stat or code == "ENOENT", message)
  return stat and stat.type
end

-- Removes what the record lists. Returns false without a record.
local function remove()
  if not kind_of(staged(RECORD)) then
    return false
  end
  local paths = {}
  for path in read(staged(RECORD)):gmatch "[^\n]+" do
    paths[#paths + 1] = path
  end
  for i = #paths, 1, -1 do
    local path = staged(paths[i])
    local kind = kind_of(path)
    if kind == "directory" then
      uv.fs_rmdir(path) -- fails if others have put files there
    elseif kind then
      assert(uv.fs_unlink(path))
    end
  end
  return true
end

-- The files below a folder with one of these extensions, relative to it.
local function files_in(folder, extensions, list, inner)
  list, inner = list or {}, inner or ""
  for name, kind in uv.fs_scandir_next, assert(uv.fs_scandir(folder .. "/" .. inner)) do
    if kind == "directory" then
      files_in(folder, extensions, list, inner .. name .. "/")
    elseif extensions:find(" " .. (name:match "%.(%a+)$" or "") .. " ", 1, true) then
      list[#list + 1] = inner .. name
    end
  end
  table.sort(list)
  return list
end

-- The pkg-config file, whose folders are relative to it. Its libraries are not private: there is
-- only a static library, and --static would also name the libraries of a static OpenBLAS.
local function description()
  local place = set.libdir .. "/pkgconfig"
  assert(place:sub(1, #set.prefix + 1) == set.prefix .. "/", "LIBDIR is not below PREFIX")
  local up = place:sub(#set.prefix + 2):gsub("[^/]+", "..")
  return ([[
prefix=${pcfiledir}/%s
libdir=${pcfiledir}/..
includedir=${prefix}/include

Name: roper
Description: Tensors, differentiation and attention with rotary position encodings
Version: %s
Cflags: -I${includedir}/roper
Requires: openblas, jansson
Libs: -L${libdir} -lroper -lgomp -lm
]]):format(up, set.version)
end

-- The files to install: {to, from = path or text = content, mode}.
local function plan()
  local list = {}
  local function add(to, from, mode)
    list[#list + 1] = { to = to, from = from, mode = tonumber(mode or "644", 8) }
  end
  for _, part in ipairs { "roper", "experiments", "lessons" } do
    for _, name in ipairs(files_in("scripts/" .. part, " lua css js py ")) do
      if not name:find "^along_the_way/" then -- scripts for the source tree
        add(("%s/%s/%s"):format(set.luadir, part, name), ("scripts/%s/%s"):format(part, name))
      end
    end
  end
  add(set.moduledir .. "/roper/native.so", set.build .. "/roper/native.so", "755")
  local share = set.prefix .. "/share"
  for _, name in ipairs(files_in(set.build .. "/library", " lua ")) do
    add(share .. "/roper/library/" .. name, set.build .. "/library/" .. name)
  end
  add(share .. "/bash-completion/completions/roper", "scripts/completion.bash")
  add(share .. "/man/man1/roper.1", set.build .. "/roper.1")
  add(set.bindir .. "/roper", "roper", "755")
  if set.parts == "program" then
    return list
  end
  for _, part in ipairs { "core", "tasks" } do
    for _, name in ipairs(files_in(part, " h ")) do
      if not name:find "^kernels/body/" and not name:find "^parallel/" then
        add(("%s/include/roper/%s/%s"):format(set.prefix, part, name), part .. "/" .. name)
      end
    end
  end
  add(set.libdir .. "/libroper.a", set.build .. "/libroper.a")
  list[#list + 1] = { to = set.libdir .. "/pkgconfig/roper.pc", text = description(),
    mode = tonumber("644", 8) }
  return list
end

-- The folders of files that do not exist, the outer ones first.
local function missing_folders(list)
  local found, seen = {}, {}
  local function visit(folder)
    if folder ~= "" and not seen[folder] and not kind_of(staged(folder)) then
      seen[folder] = true
      visit(folder:match "^(.*)/")
      found[#found + 1] = folder
    end
  end
  for _, entry in ipairs(list) do
    visit(entry.to:match "^(.*)/")
  end
  return found
end

local function install()
  remove()
  local list = plan()
  table.insert(list, 1, { to = RECORD, mode = tonumber("644", 8) })
  local folders, record = missing_folders(list), {}
  table.move(folders, 1, #folders, 1, record)
  for _, entry in ipairs(list) do
    record[#record + 1] = entry.to
  end
  list[1].text = table.concat(record, "\n") .. "\n"
  for _, folder in ipairs(folders) do
    assert(uv.fs_mkdir(staged(folder), tonumber("755", 8)))
    assert(uv.fs_chmod(staged(folder), tonumber("755", 8)))
  end
  for _, entry in ipairs(list) do
    local to = staged(entry.to)
    uv.fs_unlink(to) -- a running process keeps the old file
    if entry.text then
      write(to, entry.text)
    else
      assert(uv.fs_copyfile(entry.from, to))
    end
    assert(uv.fs_chmod(to, entry.mode))
  end
end

if arg[1] == "install" then
  install()
elseif not remove() then
  io.stderr:write(("expected an installation by make install, found no %s\n"):format(
    staged(RECORD)))
  os.exit(1)
end
