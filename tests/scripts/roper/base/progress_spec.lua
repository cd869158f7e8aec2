local progress = require("roper.base.progress")
local stdout = require("tests.stdout")

describe("progress.duration", function()
  it("prints seconds as hours, minutes and seconds", function()
    for seconds, text in pairs({
      [0] = "0s", [0.4] = "<1s", [0.6] = "1s", [59.4] = "59s", [59.6] = "1m00s", [61] = "1m01s",
      [190] = "3m10s", [3599.4] = "59m59s", [3599.6] = "1h00m", [7500] = "2h05m",
      [360000] = "100h00m",
    }) do
      assert.equal(text, progress.duration(seconds))
    end
  end)
end)

describe("progress.work", function()
  -- What a job of 40 MB writes that does a quarter at each of these times.
  local function written(times)
    return stdout.capture_errors(function()
      local now = 0
      local work = progress.work("reading", 40000000, function() return now end)
      for _, time in ipairs(times) do
        now = time
        work:add(10000000)
      end
      work:finish()
    end)
  end

  it("shows the finished part and the remaining time", function()
    assert.equal("reading ███░░░░░░░░░ 10.0 of 40.0 MB  30s left\n", written({ 10 }))
    assert.equal("reading ███░░░░░░░░░ 10.0 of 40.0 MB  30s left\n"
      .. "reading ████████████ 40.0 of 40.0 MB\n", written({ 10, 20, 30, 40 }))
  end)

  it("prints nothing for a short job", function()
    assert.equal("", written({ 0.1, 0.2, 0.3, 0.4 }))
  end)

  it("stays at the end if a file has grown", function()
    assert.truthy(written({ 1, 2, 3, 4, 5 }):find("█ 50.0 of 40.0 MB", 1, true))
  end)
end)
