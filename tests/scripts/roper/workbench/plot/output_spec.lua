local html = require("tests.html")
local plot = require("roper.workbench.plot")
local scratch = require("tests.scratch")
local uv = require("luv")

local check_svg = html.check_svg

before_each(scratch.create)
after_each(scratch.remove)

-- Call f where PATH finds only a program that runs the shell commands given, or none.
local function with_program(program, commands, f)
  local path = uv.os_getenv("PATH")
  local folder = scratch.path("bin")
  assert(uv.fs_mkdir(folder, tonumber("755", 8)))
  if commands then
    assert(uv.fs_chmod(scratch.write("bin/" .. program, "#!/bin/sh\n" .. commands),
      tonumber("755", 8)))
  end
  uv.os_setenv("PATH", commands and folder .. ":" .. path or folder)
  local results = table.pack(pcall(f))
  uv.os_setenv("PATH", path)
  return table.unpack(results, 1, results.n)
end

describe("the program for other formats", function()
  it("is searched for each time", function()
    assert.is_true(plot.available())
    assert.same({ true, false }, { with_program("rsvg-convert", nil, plot.available) })
  end)

  it("is not needed for text and SVG, and named if it is missing", function()
    local ok, message = with_program("rsvg-convert", nil, function()
      assert.truthy(plot.line({ 1, 2 }, { format = "text" }))
      check_svg(plot.line({ 1, 2 }, { format = "svg" }))
      plot.line({ 1, 2 }, scratch.path("a.png"))
    end)
    assert.is_false(ok)
    assert.truthy(message:find("plot.line: rsvg-convert is not installed (in Debian: "
      .. "apt-get install librsvg2-bin)", 1, true))
    assert.is_nil(uv.fs_stat(scratch.path("a.png")))
    uv.fs_rmdir(scratch.path("bin"))
    ok, message = with_program("xdg-open", nil, function()
      plot.line({ 1, 2 }, { format = "window" })
    end)
    assert.is_false(ok)
    assert.truthy(message:find("plot.line: xdg-open is not installed (in Debian: apt-get install "
      .. "xdg-utils)", 1, true))
  end)

  it("leaves the file unchanged when it fails, and is quoted", function()
    for i, case in ipairs({
      { "echo 'warning' >&2; echo 'no such font' >&2; exit 3",
        "plot.bar: rsvg%-convert failed %(exit 3%): no such font$" },
      { "echo 'half'; kill -9 $$", "plot.bar: rsvg%-convert failed %(%a+ %d+%): " },
      { "exit 0", "plot.bar: rsvg%-convert wrote no picture" },
    }) do
      local path = scratch.write("old" .. i .. ".png", "old")
      local ok, message = with_program("rsvg-convert", case[1], function()
        plot.bar({ 1 }, path)
      end)
      assert.is_false(ok)
      assert.truthy(message:find(case[2]), message)
      assert.equal("old", scratch.read(path))
      os.remove(path)
      os.remove(scratch.path("bin/rsvg-convert"))
      assert.same({ "bin" }, scratch.list())
      uv.fs_rmdir(scratch.path("bin"))
    end
  end)

  it("names the file that cannot be written", function()
    local ok, message = pcall(plot.line, { 1, 2 }, scratch.path("none/a.svg"))
    assert.is_false(ok)
    assert.truthy(message:find("^plot.line: .*none/a.svg"))
  end)

  it("opens a window if possible", function()
    local picture = scratch.path("picture")
    local results = table.pack(with_program("xdg-open", ('mv "$1" \'%s\''):format(picture),
      function() return plot.line({ 1, 2 }, { format = "window", title = "here" }) end))
    assert.equal(1, results.n)
    assert.is_true(results[1])
    local svg = scratch.read(picture)
    check_svg(svg)
    assert.truthy(svg:find(">here<", 1, true))
  end)

  it("reports why no window can be opened", function()
    local note = scratch.path("note")
    local ok, message = with_program("xdg-open", ([[
      echo "$1" > '%s'
      echo 'no display' >&2
      exit 4]]):format(note), function() plot.line({ 1, 2 }, { format = "window" }) end)
    assert.is_false(ok)
    assert.is_nil(io.open(scratch.read(note):match("[^\n]+")))
    assert.truthy(message:find("plot.line: xdg-open failed (exit 4): no display", 1, true))
  end)
end)
