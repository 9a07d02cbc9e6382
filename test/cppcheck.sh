#!/bin/sh
# cppcheck finds nothing in what users run. (Tests run under sanitizers.)
set -eu
command -v cppcheck >/dev/null || { echo "skipped: cppcheck is not installed"; exit 77; }
# shellcheck disable=SC2046
cppcheck -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingInclude --suppress=missingIncludeSystem --quiet --error-exitcode=1 \
    '-DSEC(name)=' -DLEAT_ROUNDS=1000 -DLEAT_SOURCE_DIR='""' -DLEAT_VERSION='""' \
    -Icore -Iproto -Iproto/atm -Iproto/aton -Iproto/esp -Iproto/packetway -Iproto/poets -Isim -Isim/net -Isim/ring -Ilive/ring -Itest \
    $(git ls-files 'core/*.c' 'proto/*.c' 'sim/*.c' 'live/*.c' 'tool/*.c' 'bench/*.c' | grep -v '_test\.c$\|_fuzz\.c$')
