local core = require("roper.core")
local schema = require("roper.options.schema")

describe("schema.fits", function()
  local FORM <const> = { a = "integer?", b = "number?", c = "string?", seed = "size",
    inner = { pid = "integer" }, list = { { name = "string", count = "number" } },
    words = { "string" } }

  local function fits(more)
    return schema.fits(core.json_decode('{"seed": 1, "inner": {"pid": 3}' .. more .. "}"), FORM)
  end

  it("accepts a table whose fields have their kinds", function()
    for _, more in ipairs({ "", ', "a": 1', ', "b": 1', ', "b": 1.5, "c": "x", "other": true',
      ', "list": []', ', "list": [{"name": "x", "count": 1}]', ', "words": ["a", "b"]' }) do
      assert.is_true(fits(more), more)
    end
  end)

  it("rejects others", function()
    for _, more in ipairs({ ', "a": 1.0', ', "a": "1"', ', "b": "1"', ', "c": 1', ', "c": false',
      ', "list": 1', ', "list": {}', ', "list": [1]', ', "list": [{"name": "x"}]', ', "a": null',
      ', "list": [{"name": 1, "count": 1}]', ', "words": ["a", 1]' }) do
      assert.is_false(fits(more), more)
    end
    for _, text in ipairs({ "{}", "[]", "3", '{"seed": 0, "inner": {"pid": 3}}', '{"seed": 1}',
      '{"seed": 1, "inner": 5}', '{"seed": 1, "inner": [3]}' }) do
      assert.is_false(schema.fits(core.json_decode(text), FORM), text)
    end
  end)
end)
