-- Definition files for editors, which make writes from the comments.

require("roper")
local catalogue = require("roper.workbench.help.catalogue")
local comment_of = require("roper.workbench.help.comment")
local native = require("roper.workbench.help.native")
local scratch = require("tests.scratch")
local stubs = require("roper.workbench.help.stubs")

describe("native.definitions", function()
  it("replaces @like by the errors and the tags of the other function", function()
    local function lines_of(tag)
      return (native.definitions({ { name = "a.c", text = ([[
/*
** function roper.shut()
** Shut.
**
**     > roper.shut()
** %s
*/
/*
** function roper.open(lid)
** Open.
**
** Errors: no lid,
** or a wrong one.
**
**     > roper.open(1)
** @param lid integer
**   of the box
*/
]]):format(tag) } }):match("%-%-%- Shut.*roper%.shut%b()"))
    end
    assert.equal([[
--- Shut.
---
--- Errors: no lid,
--- or a wrong one.
---
---     > roper.shut()
---@param lid integer
---   of the box
---@source a.c:8
function roper.shut()]], lines_of("@like roper.open"))
    assert.error_matches(function() lines_of("@like roper.opn") end,
      "a%.c:8: @like roper%.opn: no such function")
  end)

  it("turns block comments into definitions", function()
    local text = native.definitions({ { name = "bindings/a.c", text = [[
/* No documentation. */
/*
** What follows is none either.
*/
/*
** function box:open(lid)
** Open it.
**
**     > box:open(1)
** @param lid integer
*/
static int box_open(lua_State *L)
{
}

/*
** @class box
** A box.
** @field full boolean
*/

static const int rows[] = {
    /*
    ** function roper.shut()
    ** Shut all.
    */
    {"shut", shut},
};
]] } })
    assert.equal([[
--- A box.
---@class box
---@field full boolean
local box = {}

--- Open it.
---
---     > box:open(1)
---@param lid integer
---@source bindings/a.c:12
function box:open(lid) end

--- Shut all.
---@source bindings/a.c:27
function roper.shut() end
]], text:match("(%-%-%- A box.*)$"))
  end)
end)

describe("the definition files", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("are valid Lua, and contain every function with its arguments", function()
    stubs.write(scratch.path("library"))
    local defined = {}
    for _, name in ipairs({ "native", "roper", "session" }) do
      local source = scratch.read(scratch.path("library/" .. name .. ".lua"))
      assert.equal("---@meta", source:match("^%-%-%-@meta"))
      local globals = { require = function() return {} end }
      assert(load(source, "=" .. name, "t", globals))()
      for _, comment in ipairs(comment_of.parse(source)) do
        defined[comment.name or ""] = comment
      end
    end
    local count = 0
    for _, entry in ipairs(catalogue.entries()) do
      local stub = defined[entry.path]
      if entry.comment and entry.comment.arguments then
        count = count + 1
        assert(stub and stub.arguments, "no definition of " .. entry.path)
        local arguments = entry.comment.arguments
        assert.same(table.move(arguments, entry.same and 2 or 1, #arguments, 1, {}),
          stub.arguments, entry.path)
        assert.equal(#stub.arguments, #stub.parameters, entry.path)
        assert.same(entry.comment.results, stub.results, entry.path)
        assert.same(entry.comment.text, stub.text, entry.path)
      elseif entry.kind == "class" then
        assert(stub and stub.class, "no definition of the class " .. entry.path)
      end
    end
    assert(count > 250, count)
  end)

  it("define every class that they mention", function()
    local declared, named = {}, {}
    for _, name in ipairs({ "native", "roper" }) do
      for _, comment in ipairs(comment_of.parse(scratch.read(
        scratch.path("library/" .. name .. ".lua")))) do
        declared[comment.class or ""] = true
        for _, list in ipairs({ comment.parameters, comment.results, comment.fields }) do
          for _, parameter in ipairs(list) do
            for word in parameter.type:gsub('"[^"]*"', ""):gmatch("[%a_][%w_.]*") do
              named[word:find("%u") and word or "tensor"] = comment.name
            end
          end
        end
        named[comment.parent or "tensor"] = comment.name
      end
    end
    assert(named.AdamOptions and named.Module)
    for word, where in pairs(named) do
      assert(declared[word], ("%s names %s, which nothing declares"):format(where, word))
    end
  end)
end)
