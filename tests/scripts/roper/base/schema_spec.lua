local schema = require("roper.base.schema")

describe("schema.fits", function()
  local FIELDS <const> = { a = "integer", b = "number", c = "string",
                           list = { name = "string", count = "number" } }

  it("accepts a table whose fields, if present, are of their kinds", function()
    for _, content in ipairs({ {}, { a = 1 }, { b = 1 }, { b = 1.5, c = "x", other = true },
                               { list = {} }, { list = { { name = "x", count = 1 } } } }) do
      assert.is_true(schema.fits(content, FIELDS))
    end
  end)

  it("rejects others", function()
    for _, content in ipairs({ { a = 1.0 }, { a = "1" }, { b = "1" }, { c = 1 }, { c = false },
                               { list = 1 }, { list = { 1 } }, { list = { { name = "x" } } },
                               { list = { { name = 1, count = 1 } } } }) do
      assert.is_false(schema.fits(content, FIELDS))
    end
  end)
end)
