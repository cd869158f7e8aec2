--- The C part of the library, `roper.native`.
require "roper.system.start"
return require "roper.native"
