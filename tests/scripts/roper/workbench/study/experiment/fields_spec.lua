local fields = require("roper.workbench.study.experiment.fields")

-- The field of an experiment on a task.
local function field(task, name)
  for _, one in ipairs(fields.of(task)) do
    if one[1] == name then
      return one
    end
  end
end

describe("fields of an experiment on text", function()
  it("are the options of the task", function()
    assert.same({ "files", "string", false,
      "a file of text, or a folder of them, or a list of these", required = true },
      field("text", "files"))
    assert.is_nil(field("text", "problems"))
    assert.is_table(field("addition", "problems"))
    assert.equal("share", field("text", "validation")[2])
    assert.equal(0.05, field("text", "validation")[3])
    assert.equal(2, field("text", "length")[2].smallest)
    assert.is_false(field("text", "documents")[3])
  end)

  it("take paths as they are, also those that look like numbers", function()
    assert.equal("2024", fields.convert(field("text", "files"), "2024"))
    assert.equal("12", fields.convert(field("text", "tokenizer"), "12"))
    assert.equal("jsonl", fields.convert(field("text", "documents"), "jsonl"))
    assert.equal(500, fields.convert(field("text", "vocabulary"), "500"))
    assert.error_matches(function() fields.convert(field("text", "documents"), "json") end,
      'field documents: expected one of file, .*did you mean "jsonl"')
  end)
end)

describe("fields for options", function()
  local options_of = require("roper.base.options")
  options_of.define("SpecFieldOptions", {
    { "width", "size", 3, "in `px`" },
    { "bias", "boolean", true, "add a bias" },
    { "depth", "size?", nil, "levels" },
  })
  local list = fields.of_options("SpecFieldOptions", { "depth", "bias", { "width", 5 } })

  it("have the rows' kinds, defaults and documentation", function()
    assert.same({ { "depth", "size", false, "levels" },
      { "bias", { "true", "false" }, false, "add a bias", "true" },
      { "width", "size", 5, "in px" } }, list)
    assert.same({ "bias", { "true", "false" }, "false", "add a bias", "true" },
      fields.of_options("SpecFieldOptions", { { "bias", false } })[1])
  end)

  it("become the options again", function()
    local bias = list[2]
    assert.same({ bias = true, width = 5 },
      fields.options(list, { depth = false, bias = false, width = 5 }))
    assert.is_false(fields.convert(bias, true)) -- not set
    for _, value in ipairs({ "false", false }) do
      assert.is_false(fields.options(list, { bias = fields.convert(bias, value) }).bias)
    end
    assert.error_matches(function() fields.convert(bias, "flase") end,
      'field bias: expected one of true, false, got "flase"; did you mean "false"')
  end)

  it("are those of the model in every experiment", function()
    for _, one in ipairs(fields.MODEL) do
      local row = options_of.rows("TransformerOptions")[one[1]]
      assert.equal(row[3] or false, field("copy", one[1])[3])
    end
  end)
end)
