#!/bin/sh
# Fails when an archive needs anything but memory copies, strings, asserts and our own symbols.
set -eu
bad=$("${NM:-nm}" -u "$1" | awk '$1 == "U" { print $2 }' | sort -u |
      grep -Ev '^(memcpy|memmove|memset|memcmp|strlen|strcmp|abort|__assert_fail|leat_.*|__(asan|ubsan|sanitizer|sancov|odr_asan|gcov).*)$' || true)
[ -z "$bad" ] || { echo "impure: $bad"; exit 1; }
