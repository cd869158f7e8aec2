--- busted's plain output, the reasons of skipped tests, and one closing line to count by.
require "luv" -- once and for all files: it does not stand being loaded again beside its old self

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
