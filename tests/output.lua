--- Output handler of busted: plain output, the reasons of skipped tests, and a last line with the
--- counts, which tests/main.lua reads.
require "luv" -- loaded once for all files: luv cannot be loaded twice in a process

return function(options)
  local busted = require "busted"
  local handler = require "busted.outputHandlers.plainTerminal"(options)
  busted.subscribe({ "suite", "end" }, function()
    local failed = handler.failuresCount + handler.errorsCount
    io.write(("%d passed, %d failed\n"):format(handler.successesCount, failed))
    return nil, true
  end, { priority = 100 })
  return handler
end
