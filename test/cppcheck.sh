#!/bin/sh
# cppcheck finds nothing.
set -eu
command -v cppcheck >/dev/null || { echo "skipped: cppcheck is not installed"; exit 77; }
cppcheck -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingInclude --suppress=missingIncludeSystem --quiet --error-exitcode=1 \
    '-DSEC(name)=' -DLEAT_ROUNDS=1000 -DLEAT_SOURCE_DIR='""' -DLEAT_VERSION='""' \
    -Icore -Iproto -Iproto/atm -Iproto/aton -Iproto/esp -Iproto/packetway -Iproto/poets -Isim -Isim/net -Isim/ring -Ilive/ring -Itest \
    core proto sim live tool bench
