#!/bin/sh
# Can make check-wheel run here? If not, prints what is missing, and fails.
set -eu
missing() {
  echo "The wheel is not tried in old systems: $1."
  exit 1
}
[ "$(id -u)" = 0 ] || missing "this user is not root"
git -C "$(dirname "$0")" rev-parse HEAD >/dev/null 2>&1 || missing "git cannot read this checkout"
work=$(mktemp -d /var/tmp/roper-XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lower" "$work/upper" "$work/work" "$work/root"
unshare --mount --pid --fork mount -t overlay overlay \
  -o "lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/work" "$work/root" 2>/dev/null ||
  missing "root may not mount folders"
# Without the variables of this environment, which the systems do not have.
for address in http://deb.debian.org/debian/dists/bullseye/Release \
  http://archive.ubuntu.com/ubuntu/dists/bionic/Release https://pypi.org/simple/ziglang/; do
  env -i PATH="$PATH" /usr/lib/apt/apt-helper download-file "$address" "$work/file" >/dev/null 2>&1 ||
    missing "$address does not answer"
done
