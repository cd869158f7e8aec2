-- For luarocks make, in a source tree. The C libraries come from the system: see README.md.
rockspec_format = "3.0"
package = "roper"
version = "0.1.0-1"
source = {
  url = "roper-0.1.0.tar.gz", -- as written by make dist
}
description = {
  summary = "A workbench for rotary position encodings.",
  detailed = "A C core for tensors, differentiation and attention with rotary position "
    .. "encodings, driven from Lua in a session, in scripts and in sweeps.",
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = {
  "lua >= 5.4, < 5.5",
  "argparse >= 0.7.1",
  "luv >= 1.44",
  "readline >= 3.2",
}
external_dependencies = {
  JANSSON = { header = "jansson.h" },
}
build = {
  type = "make",
  build_target = "all",
  install_target = "install-program",
  install_variables = {
    PREFIX = "$(PREFIX)",
    LUADIR = "$(LUADIR)",
    MODULEDIR = "$(LIBDIR)",
    BINDIR = "$(BINDIR)",
  },
}
-- The program finds its files by its own place.
deploy = {
  wrap_bin_scripts = false,
}
