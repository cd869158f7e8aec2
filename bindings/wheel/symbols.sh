#!/bin/sh
# symbols.sh FILE VERSION: fails if a program or library needs a newer glibc, or has its own copy of
# a variable of glibc that has a second name, such as environ: glibc would set only the one that it
# uses itself.
set -eu
newest=$(readelf --wide --dyn-syms "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
if ! printf '%s\n' "$newest" "GLIBC_$2" | sort -VC; then
  echo "$1: expected at most glibc $2, needs $newest" >&2
  exit 1
fi
copied=$(readelf --wide --relocs "$1" | awk '$3 ~ /_COPY$/ { print $5 }' |
  grep -vE '^(stdin|stdout|stderr|__environ|in6addr_any)(@|$)' || true)
if [ -n "$copied" ]; then
  echo "$1: expected no copies of these variables of glibc:" $copied >&2
  exit 1
fi
echo "$1: $newest;" $(readelf --wide --dynamic "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
