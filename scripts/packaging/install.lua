-- Installs roper, or removes an installation: see the targets install and uninstall of Makefile.
-- Arguments: the action, install or uninstall, and NAME=VALUE for destdir and prefix; to install,
-- also for luadir, moduledir, bindir, libdir, build, version, and requires and libs: packages and
-- libraries for programs that use the C library. parts=program leaves out the C library; force=1
-- replaces files that make install did not install.
--
-- The record in PREFIX/share/roper lists the folders that did not exist before, the outer ones
-- first, and the installed files with their SHA-256. It is written before the files, so that an
-- interrupted installation can be removed, too.
local uv = require "luv"

local set = {}
for i = 2, #arg do
  local name, value = arg[i]:match "^(%w+)=(.*)$"
  set[name] = value:gsub("(.)/+$", "%1")
end
local RECORD <const> = set.prefix .. "/share/roper/installed"
local NEW <const> = ".roper-new" -- the end of the name of a file that is being copied

-- Ends with a message if a condition does not hold.
local function check(condition, message, ...)
  if not condition then
    io.stderr:write(message:format(...), "\n")
    os.exit(1)
  end
  return condition
end

local function is_below(path, folder)
  return path:sub(1, #folder + 1) == folder .. "/" and not (path .. "/"):find("/../", 1, true)
end

check(set.prefix:find "^/", "PREFIX: expected an absolute path, got '%s'", set.prefix)
for _, name in ipairs { "luadir", "moduledir", "bindir", "libdir" } do
  check(not set[name] or is_below(set[name], set.prefix), "%s: expected a folder below PREFIX, %s, "
    .. "got '%s'", name:upper(), set.prefix, set[name])
end

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

-- The SHA-256 of files, by path.
local function hashes(paths)
  local by_path = {}
  for i = 1, #paths, 50 do
    local words = {}
    for j = i, math.min(i + 49, #paths) do
      words[#words + 1] = "'" .. paths[j]:gsub("'", "'\\''") .. "'"
    end
    local pipe <close> = assert(io.popen("sha256sum -z -- " .. table.concat(words, " ")))
    for hash, path in pipe:read("a"):gmatch "(%x+) [ *]([^\0]+)\0" do
      by_path[path] = hash
    end
  end
  return by_path
end

-- Reads the record: the folders, and the hash of each file by its path. Nil without a record.
local function read_record()
  if not kind_of(staged(RECORD)) then
    return nil
  end
  local folders, files = {}, {}
  for line in read(staged(RECORD)):gmatch "[^\n]+" do
    local what, path = line:match "^(%w+)  (/.*)$"
    local is_folder = what == "folder" and (is_below(path, set.prefix)
      or (set.prefix .. "/"):sub(1, #path + 1) == path .. "/")
    check(is_folder or what and #what == 64 and is_below(path, set.prefix),
      "%s: expected lines of make install, with files below %s, got '%s'; nothing was changed",
      staged(RECORD), set.prefix, line)
    if is_folder then
      folders[#folders + 1] = path
    else
      files[path] = what
    end
  end
  return { folders = folders, files = files }
end

-- The files of a list that exist, with their hashes; false for what is not a regular file.
local function found(paths)
  local by_path, regular = {}, {}
  for _, path in ipairs(paths) do
    local kind = kind_of(staged(path))
    by_path[path] = kind and false
    regular[#regular + 1] = kind == "file" and staged(path) or nil
  end
  local hash_of = hashes(regular)
  for _, path in ipairs(paths) do
    by_path[path] = hash_of[staged(path)] or by_path[path]
  end
  return by_path
end

local function keys(t)
  local list = {}
  for key in pairs(t) do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

-- Removes the files of a record, except for changed ones, and its folders that are empty then.
-- Returns the changed files.
local function remove(record)
  local changed, now = {}, found(keys(record.files))
  for _, path in ipairs(keys(record.files)) do
    if now[path] == record.files[path] then
      assert(uv.fs_unlink(staged(path)))
    elseif now[path] ~= nil then
      changed[#changed + 1] = staged(path)
    end
    uv.fs_unlink(staged(path) .. NEW)
  end
  assert(uv.fs_unlink(staged(RECORD)))
  for i = #record.folders, 1, -1 do
    uv.fs_rmdir(staged(record.folders[i])) -- fails if others have put files there
  end
  return changed
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
  local up = place:sub(#set.prefix + 2):gsub("[^/]+", "..")
  return ([[
prefix=${pcfiledir}/%s
libdir=${pcfiledir}/..
includedir=${prefix}/include

Name: roper
Description: Tensors, differentiation and attention with rotary position encodings
Version: %s
Cflags: -I${includedir}/roper
Requires: %s
Libs: -L${libdir} -lroper %s -lgomp -lm
]]):format(up, set.version, set.requires, set.libs)
end

-- The files to install: {to, from, mode}.
local function plan()
  local list = {}
  local function add(to, from, mode)
    list[#list + 1] = { to = to, from = from, mode = tonumber(mode or "644", 8) }
  end
  for _, part in ipairs { "roper", "experiments", "lessons" } do
    for _, name in ipairs(files_in("scripts/" .. part, " lua css js mjs py ")) do
      if part ~= "experiments" or not name:find "/" then -- studies are in the source tree only
        add(("%s/%s/%s"):format(set.luadir, part, name), ("scripts/%s/%s"):format(part, name))
      end
    end
  end
  add(set.moduledir .. "/roper/native.so", set.build .. "/roper/native.so", "755")
  local share = set.prefix .. "/share"
  for _, name in ipairs(files_in(set.build .. "/library", " lua css ")) do
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
  write(set.build .. "/roper.pc", description())
  add(set.libdir .. "/pkgconfig/roper.pc", set.build .. "/roper.pc")
  return list
end

-- The folders that do not exist of the record and of files, the outer ones first.
local function missing_folders(list)
  local missing, seen = {}, {}
  local function visit(folder)
    if folder ~= "" and not seen[folder] and not kind_of(staged(folder)) then
      seen[folder] = true
      visit(folder:match "^(.*)/")
      missing[#missing + 1] = folder
    end
  end
  visit(RECORD:match "^(.*)/")
  for _, entry in ipairs(list) do
    visit(entry.to:match "^(.*)/")
  end
  return missing
end

-- Ends with a message if files exist that are neither of the last installation nor the new ones.
local function check_others(list, record, hash_of)
  local others, paths = {}, {}
  for i, entry in ipairs(list) do
    paths[i] = entry.to
  end
  local now = found(paths)
  for _, entry in ipairs(list) do
    local hash = now[entry.to]
    local is_ours = hash and (hash == record.files[entry.to] or hash == hash_of[entry.from])
    others[#others + 1] = hash ~= nil and not is_ours and "  " .. staged(entry.to) or nil
  end
  check(#others == 0, "make install did not install these files, or they were changed since:\n%s\n"
    .. "Nothing was installed. Move them away, or replace them with FORCE=1.",
    table.concat(others, "\n"))
end

local function install()
  local list, old = plan(), read_record() or { folders = {}, files = {} }
  local sources = {}
  for i, entry in ipairs(list) do
    sources[i] = entry.from
  end
  local hash_of = hashes(sources)
  if set.force ~= "1" then
    check_others(list, old, hash_of)
  end
  if kind_of(staged(RECORD)) then
    remove(old)
  end
  local folders, lines = missing_folders(list), {}
  for i, folder in ipairs(folders) do
    lines[i] = "folder  " .. folder
    assert(uv.fs_mkdir(staged(folder), tonumber("755", 8)))
    assert(uv.fs_chmod(staged(folder), tonumber("755", 8)))
  end
  for _, entry in ipairs(list) do
    lines[#lines + 1] = ("%s  %s"):format(hash_of[entry.from], entry.to)
  end
  write(staged(RECORD), table.concat(lines, "\n") .. "\n")
  assert(uv.fs_chmod(staged(RECORD), tonumber("644", 8)))
  for _, entry in ipairs(list) do -- renamed, so that a file is never incomplete
    local to = staged(entry.to)
    assert(uv.fs_copyfile(entry.from, to .. NEW))
    assert(uv.fs_chmod(to .. NEW, entry.mode))
    assert(uv.fs_rename(to .. NEW, to))
  end
end

if arg[1] == "install" then
  return install()
end
local record = check(read_record(), "expected an installation by make install, found no %s",
  staged(RECORD))
local changed = remove(record)
if changed[1] then
  io.stderr:write("These files were changed after make install, and are kept:\n  ",
    table.concat(changed, "\n  "), "\n")
end
