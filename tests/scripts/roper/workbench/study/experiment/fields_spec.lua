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
    assert.same({ "files", "string", false, "a file of text, or a folder of them",
      required = true }, field("text", "files"))
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
