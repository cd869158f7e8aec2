#!/bin/sh
# Installs roper in a clean system, tries it, removes it and lists the files that are left, of which
# there should be none. Run it by root.sh, because it changes the system:
#
#   for way in build deb source rock; do
#     tests/systems/root.sh bookworm tests/systems/packages.sh $way
#   done
#
# build writes the packages of make deb to /out; deb installs one of them.
set -eu

install() {
  apt-get install -q -y --no-install-recommends "$@" >/dev/null
}

# Lists the files, except for those that apt, dpkg and luarocks change with every package.
files() {
  find / -xdev \( -path /proc -o -path /dev -o -path /out -o -path /tmp -o -path /roper \
    -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune \
    -o -print | grep -vxE '/usr/local/lib/luarocks(/rocks-5.4(/manifest)?)?' |
    LC_ALL=C sort >"/tmp/$1"
}

try() {
  mkdir -p /tmp/elsewhere /tmp/home
  (
    cd /tmp/elsewhere
    export HOME=/tmp/home
    [ "roper $(roper -e 'print(roper.version)')" = "$(roper --version)" ]
    roper lesson rotation </dev/null | grep -q rotation
    roper train copy preset=smoke steps=2
    roper runs
  )
}

# Calls the functions add and remove.
check() {
  files before
  add
  try
  remove
  files after
  echo "$1: files missing:" # luarocks also removes folders that were empty before
  LC_ALL=C comm -23 /tmp/before /tmp/after
  echo "$1: files left:"
  LC_ALL=C comm -13 /tmp/before /tmp/after | tee /tmp/left
  [ ! -s /tmp/left ]
  echo "$1: installed, tried and removed"
}

case $1 in
  build)
    install git
    make deb
    cp build/deb/*.deb /out
    ;;
  deb)
    add() { apt-get install -q -y --no-install-recommends /out/roper_*.deb; }
    remove() { apt-get purge -q -y --autoremove roper; }
    check deb
    ;;
  source)
    make deps
    make -j
    add() { make install; }
    remove() { make uninstall; }
    check source
    ;;
  rock)
    install luarocks
    make deps
    spec=$(echo scripts/packaging/*.rockspec)
    add() { luarocks --lua-version 5.4 make --deps-mode none "$spec"; }
    remove() { luarocks --lua-version 5.4 remove roper; }
    check rock
    ;;
esac
