#!/bin/sh
# cppcheck finds nothing in the product code. (Tests run under sanitizers.)
set -eu
command -v cppcheck >/dev/null || { echo "skipped: cppcheck is not installed"; exit 77; }
headers="-Iinclude $(git ls-files 'core/*.h' 'proto/*.h' 'sim/*.h' 'fabric/*.h' 'live/*.h' 'port/*.h' 'program/*.h' 'view/*.h' 'tool/*.h' 'bench/*.h' | xargs -n1 dirname | sort -u | sed 's/^/-I/')"
sources=$(git ls-files 'core/*.c' 'proto/*.c' 'sim/*.c' 'fabric/*.c' 'live/*.c' 'port/*.c' 'program/*.c' 'view/*.c' 'tool/*.c' 'bench/*.c' | grep -v '_test\.c$\|_fuzz\.c$')
# shellcheck disable=SC2086
cppcheck -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingInclude --suppress=missingIncludeSystem --quiet --error-exitcode=1 \
    -D__cppcheck__ '-DSEC(name)=' -DLEAT_ROUNDS=1000 -DLEAT_SOURCE_DIR='""' -DLEAT_VERSION='""' $headers $sources
