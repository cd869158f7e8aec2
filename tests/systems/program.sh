#!/bin/sh
# Runs specs by the program and the module of the archive in /out: of files, folders, or of the C
# code. Run it by root.sh, because it writes into the source tree:
#
#   PACKAGES="gcc libc6-dev lua-busted lua-readline python3" tests/systems/root.sh bookworm:arm64 \
#     tests/systems/program.sh tests/core
set -eu
mkdir /opt/roper /opt/shim
tar -xzf /out/roper-*-linux-"$(uname -m)".tar.gz -C /opt/roper --strip-components=1
printf '#!/bin/sh\nexec /opt/roper/bin/roper --lua "$@"\n' >/opt/shim/lua5.4
chmod +x /opt/shim/lua5.4
PATH=/opt/shim:$PATH
own=/opt/roper/libexec/roper
mkdir -p build/roper
cp "$own/lib/lua/5.4/roper/native.so" build/roper
cp -r "$own/share/roper/library" build
cp "$own/bin/roper" roper
exec lua5.4 tests/main.lua "--busted=lua5.4 /usr/bin/busted --ignore-lua --exclude-tags=long" \
  "${@:-tests/core tests/bindings tests/tasks}"
