--- The C part of the library, `roper.native`.
return require "roper.system.start"
