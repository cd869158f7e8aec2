#!/bin/sh
# Runs a command in a clone of the last commit, in a clean system made by debootstrap. As root:
#
#   tests/systems/root.sh SUITE[:ARCHITECTURE] COMMAND [ARGUMENT]...
#
# The systems are kept in $ROOTS, with downloaded packages. $PACKAGES, by default make, are
# installed first. What a command changes is discarded, except for the files in its folder /out,
# which is $ROOTS/out. A foreign architecture needs qemu-user-static and its registration in
# binfmt_misc. KEYRING=FILE replaces the keys of Debian or Ubuntu. In one kind of system, only one
# command at a time can install packages.
set -eu
: "${ROOTS:=/var/tmp/roper-roots}"
suite=${1%:*} base=$ROOTS/$(echo "$1" | tr : -) # overlayfs separates folders by colons
case $1 in *:*) architecture=${1#*:} ;; *) architecture=$(dpkg --print-architecture) ;; esac
shift
case $suite in
  bullseye | bookworm | trixie | sid)
    mirror=http://deb.debian.org/debian components=main
    : "${KEYRING:=/usr/share/keyrings/debian-archive-keyring.gpg}" ;;
  *)
    mirror=http://archive.ubuntu.com/ubuntu components=main,universe
    : "${KEYRING:=$ROOTS/ubuntu/usr/share/keyrings/ubuntu-archive-keyring.gpg}" ;;
esac
mkdir -p "$ROOTS/out" "$base.archives/partial"
if [ ! -d "$base" ]; then
  script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy # of every Ubuntu
  case $KEYRING in "$ROOTS"/*) # Debian has no package of these keys
    package=$ROOTS/ubuntu-keyring.deb
    /usr/lib/apt/apt-helper download-file \
      "$mirror/pool/main/u/ubuntu-keyring/ubuntu-keyring_2018.09.18.1~18.04.2_all.deb" "$package" \
      SHA256:5d8609563fb3074026b254d7d5248f90d393c7dbafcac48916f333bf3c90fed9
    dpkg -x "$package" "$ROOTS/ubuntu" ;;
  esac
  rm -rf "$base.new"
  debootstrap --variant=minbase --arch="$architecture" --components="$components" \
    --keyring="$KEYRING" "$suite" "$base.new" "$mirror" "$script"
  echo force-unsafe-io >"$base.new/etc/dpkg/dpkg.cfg.d/fast"
  mv "$base.new" "$base"
fi
work=$(mktemp -d "$ROOTS/run-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/upper" "$work/work" "$work/root"
git clone --quiet "$(dirname "$0")/../.." "$work/upper/roper"
cp -L /etc/resolv.conf "$work/resolv.conf"
export base work ROOTS PACKAGES="${PACKAGES:-make}"
# The mounts end with the command.
unshare --mount --pid --fork --kill-child sh -euc '
  root=$work/root
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$root"
  mkdir "$root/out"
  mount --bind "$ROOTS/out" "$root/out"
  mount --bind "$base.archives" "$root/var/cache/apt/archives"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  cp "$work/resolv.conf" "$root/etc/resolv.conf"
  exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PACKAGES="$PACKAGES" \
    sh -euc "apt-get update -q
      apt-get install -q -y --no-install-recommends \$PACKAGES
      cd /roper
      exec \"\$@\"" sh "$@"' sh "$@"
