local temporary = require("roper.system.temporary")

describe("temporary.with_file", function()
  it("removes the file afterwards, and files beside it", function()
    local uv = require("luv")
    local seen
    assert.same({ false, "no" }, { pcall(temporary.with_file, "a.lua", "x = 1\n", function(path)
      seen = path
      assert.equal("x = 1\n", assert(io.open(path)):read("a"))
      assert.equal(tonumber("700", 8), uv.fs_stat(path:match("^(.*)/")).mode & tonumber("777", 8))
      assert(io.open(path .. "~", "w")):close()
      error("no", 0)
    end) })
    assert.matches("/a%.lua$", seen)
    assert.is_nil(uv.fs_stat(seen:match("^(.*)/")))
    assert.equal(5, temporary.with_file("a", "", function() return 5 end))
  end)

  it("removes folders with all in them, but nothing behind a link", function()
    local uv = require("luv")
    local seen
    temporary.with_file("kept", "", function(kept)
      seen = temporary.with_folder(function(folder)
        assert(uv.fs_mkdir(folder .. "/a", 448))
        assert(uv.fs_mkdir(folder .. "/a/b", 448))
        assert(io.open(folder .. "/a/b/file", "w")):close()
        assert(uv.fs_symlink(kept:match("^(.*)/"), folder .. "/a/link"))
        return folder
      end)
      assert.is_nil(uv.fs_stat(seen))
      assert.truthy(uv.fs_stat(kept))
    end)
  end)

  it("raises an error if there is no space", function()
    local uv = require("luv")
    local before = uv.os_getenv("TMPDIR")
    finally(function()
      if before then uv.os_setenv("TMPDIR", before) else uv.os_unsetenv("TMPDIR") end
    end)
    uv.os_setenv("TMPDIR", "/proc/none")
    assert.error_matches(function() temporary.with_file("a", "", print) end,
      "^cannot make a temporary folder: ENOENT")
  end)
end)
