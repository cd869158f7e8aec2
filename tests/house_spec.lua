local floors = require("tests.floors")
local scratch = require("tests.scratch")

-- The number of the layer of a file, and its folder: the innermost one with a layer.
local function floor_of(path)
  local found, inner
  for number, folders in ipairs(floors) do
    for _, folder in ipairs(folders) do
      if (path == folder or path:sub(1, #folder + 1) == folder .. "/") and #folder > #(inner or "")
      then
        found, inner = number, folder
      end
    end
  end
  return found, inner
end

local function exists(path)
  local file = io.open(path)
  return file and file:close() and true
end

-- The file of a Lua module; nil if there is none.
local function file_of(root, module)
  local base = "scripts/" .. module:gsub("%.", "/")
  for _, path in ipairs({ base .. ".lua", base .. "/init.lua" }) do
    if exists(root .. path) then
      return path
    end
  end
  return nil
end

-- The existing files that a file names: in #include, or as a module in any string, since a module
-- can be loaded by a name from a table. The name "roper" is also that of the program, so it counts
-- in `require` only.
local function used_by(root, path)
  local text = scratch.read(root .. path)
  local list = {}
  if path:match("%.[ch]$") then
    for name in text:gmatch('#include "([^"]+)"') do
      list[#list + 1] = name
    end
    return list
  end
  for line in text:gmatch("[^\n]+") do
    if not line:match("^%s*%-%-") then
      for name in line:gmatch('["\'](roper%.[%w_.]*[%w_])["\']') do
        list[#list + 1] = file_of(root, name)
      end
      if line:find('^[^"\']*require%s*%(?%s*["\']roper["\']') then
        list[#list + 1] = file_of(root, "roper")
      end
    end
  end
  return list
end

-- The sources below a folder: file to the files it uses.
local function arrows(root)
  local list = {}
  local pipe <close> = io.popen(("cd '%s' && find core tasks bindings scripts/roper -type f "
    .. "'(' -name '*.[ch]' -o -name '*.lua' ')' | LC_ALL=C sort"):format(root))
  for path in pipe:lines() do
    list[#list + 1] = { path = path, uses = used_by(root, path) }
  end
  return list
end

-- The dependencies on a higher layer or on another folder of the same layer, and files in no layer.
local function climbs(list)
  local found = {}
  for _, file in ipairs(list) do
    local floor, folder = floor_of(file.path)
    if not floor then
      found[#found + 1] = file.path .. " is on no floor"
    end
    for _, used in ipairs(floor and file.uses or {}) do
      local below, other = floor_of(used)
      if not below or below > floor or (below == floor and other ~= folder) then
        found[#found + 1] = file.path .. " uses " .. used
      end
    end
  end
  return found
end

-- The cycles, each once, as "a -> b -> a".
local function circles(list)
  local uses, state, stack, found = {}, {}, {}, {}
  for _, file in ipairs(list) do
    uses[file.path] = file.uses
  end
  local function visit(path)
    state[path] = "open"
    stack[#stack + 1] = path
    for _, used in ipairs(uses[path] or {}) do
      if state[used] == "open" and used ~= path then
        local text = used
        for i = #stack, 1, -1 do
          text = stack[i] .. " -> " .. text
          if stack[i] == used then
            break
          end
        end
        found[#found + 1] = text
      elseif not state[used] then
        visit(used)
      end
    end
    stack[#stack] = nil
    state[path] = "done"
  end
  for _, file in ipairs(list) do
    if not state[file.path] then
      visit(file.path)
    end
  end
  return found
end

describe("the layers", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  it("have no dependency on a higher layer", function()
    assert.same({}, climbs(arrows("./")))
  end)

  it("have no cycles", function()
    assert.same({}, circles(arrows("./")))
  end)

  it("reach the system in one room only", function()
    local found = {}
    local pipe <close> = io.popen("find scripts/roper -name '*.lua' | LC_ALL=C sort")
    for path in pipe:lines() do
      for line in scratch.read(path):gmatch("[^\n]+") do
        local code = not line:match("^%s*%-%-") and line or ""
        if (code:find('["\']luv["\']') or code:find("%f[%w]io%.popen")
          or code:find("%f[%w]os%.getenv") or code:find("%f[%w]os%.execute"))
          and not path:find("^scripts/roper/system/") then
          found[#found + 1] = path .. ": " .. code
        end
      end
    end
    assert.same({}, found)
  end)

  it("reach the system in one file of the core only", function()
    local found = {}
    local pipe <close> = io.popen("find core tasks -name '*.[ch]' | LC_ALL=C sort")
    for path in pipe:lines() do
      for name in scratch.read(path):gmatch("#include <([^>]+)>") do
        if (name:find("^sys/") or ("omp.h poll.h pthread.h sched.h signal.h termios.h threads.h")
          :find(name, 1, true)) and name ~= "sys/stat.h"
          and path ~= "core/base/system_linux.c" and not path:find("^core/parallel/") then
          found[#found + 1] = path .. " includes " .. name
        end
      end
    end
    assert.same({}, found)
  end)

  it("are listed in the READMEs", function()
    local readmes = {}
    for _, folders in ipairs(floors) do
      for _, folder in ipairs(folders) do
        local top, inner = folder:match("^([^/]+)/?(.*)$")
        local path = top .. "/README.md"
        readmes[path] = readmes[path] or scratch.read(path)
        assert.truthy(readmes[path]:find("`" .. folder, 1, true)
          or readmes[path]:find("`" .. inner .. "`", 1, true) or inner == "",
          folder .. " is not in " .. path)
      end
    end
  end)

  -- A project of a few files, as text by path.
  local function planted(files)
    local root = scratch.path("house")
    for _, folder in ipairs({ "core/base", "core/tensor", "tasks", "bindings", "scripts/roper/base",
      "scripts/roper/workbench/study/run", "scripts/roper/workbench/study/sweep" }) do
      os.execute(("mkdir -p '%s/%s'"):format(root, folder))
    end
    for path, text in pairs(files) do
      scratch.write("house/" .. path, text)
    end
    return arrows(root .. "/")
  end

  it("would report a higher layer in C and in Lua", function()
    assert.same({ "core/base/a.c uses core/tensor/b.h" }, climbs(planted({
      ["core/base/a.c"] = '#include "core/tensor/b.h"\n', ["core/tensor/b.h"] = "" })))
    assert.same({ "core/base/a.c uses core/tensor/b.h",
      "scripts/roper/base/x.lua uses scripts/roper/workbench/study/run/y.lua" }, climbs(planted({
      ["scripts/roper/base/x.lua"] = 'local y = require "roper.workbench.study.run.y"\n',
      ["scripts/roper/workbench/study/run/y.lua"] = "-- require 'roper.none'\n" })))
  end)

  it("would report a higher layer named in a table, or the public table", function()
    assert.same({ "scripts/roper/base/x.lua uses scripts/roper/workbench/study/run/y.lua",
      "scripts/roper/base/z.lua uses scripts/roper/init.lua" }, climbs(planted({
      ["core/base/a.c"] = "", ["scripts/roper/init.lua"] = "",
      ["scripts/roper/base/x.lua"] = 'local lazy = { y = "roper.workbench.study.run.y" }\n',
      ["scripts/roper/base/z.lua"] = 'print(\'try require "roper"\')\nreturn require "roper"\n',
      ["scripts/roper/workbench/study/run/y.lua"] = 'return "roper.none"\n' })))
  end)

  it("would report a run that uses a sweep, but not the other way round", function()
    assert.same({ "scripts/roper/workbench/study/run/x.lua uses "
      .. "scripts/roper/workbench/study/sweep/y.lua" }, climbs(planted({
      ["scripts/roper/workbench/study/run/x.lua"] = 'require "roper.workbench.study.sweep.y"\n',
      ["scripts/roper/workbench/study/run/z.lua"] = "",
      ["scripts/roper/workbench/study/sweep/y.lua"] = 'require "roper.workbench.study.run.z"\n' })))
  end)

  it("would report a cycle", function()
    local found = circles(planted({
      ["scripts/roper/base/p.lua"] = 'local q = require("roper.base.q")\n',
      ["scripts/roper/base/q.lua"] = 'return function() return require "roper.base.r" end\n',
      ["scripts/roper/base/r.lua"] = "require 'roper.base.p'\n" }))
    assert.same({ "scripts/roper/base/p.lua -> scripts/roper/base/q.lua -> "
      .. "scripts/roper/base/r.lua -> scripts/roper/base/p.lua" }, found)
  end)
end)
