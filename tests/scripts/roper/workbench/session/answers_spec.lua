local answers = require "roper.workbench.session.answers"

describe("a session without a terminal", function()
  it("tells complete code from code that needs more lines", function()
    local session = answers.session(setmetatable({}, { __index = _G }), function() end)
    for code, is_complete in pairs { ["1 + 1"] = true, ["for i = 1, 2 do"] = false,
      ["f(1,"] = false, ["x = )"] = true, ["for i = 1, 2 do\nend"] = true } do
      assert.same({ complete = is_complete }, answers.answer(session, "is_complete", code), code)
    end
  end)

  it("answers unknown requests and requests that fail with an error", function()
    local session = answers.session(setmetatable({}, { __index = _G }), function() end)
    assert.same({ error = "answer: unknown request inspct; did you mean \"inspect\"? "
      .. "There are banner, complete, execute, inspect, is_complete" },
      answers.answer(session, "inspct", "1"))
    assert.truthy(answers.answer(session, nil).error:find("^answer: unknown request nil; "))
    assert.truthy(answers.answer(session, "complete").error)
  end)
end)
