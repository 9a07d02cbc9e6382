#!/bin/sh
# Builds leat with every C compiler that is installed, or with those that are named, and runs the tests
# of vectors: sh test/compilers.sh [gcc-11 clang-19 musl-gcc ...]. Prints the warnings of each.
set -eu
cd "$(dirname "$0")/.."
known="gcc-11 gcc-12 gcc-13 gcc-14 gcc-15 clang-13 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22"
[ $# -gt 0 ] || for cc in $known; do
    command -v "$cc" >/dev/null 2>&1 && set -- "$@" "$cc"
done
[ $# -gt 0 ] || { echo "no compiler of these: $known"; exit 2; }

# The C++ compiler beside it, for handlers in C++; otherwise that of the system.
beside() {
    case $1 in
    gcc-*) cxx=g++-${1#gcc-} ;;
    clang-*) cxx=clang++-${1#clang-} ;;
    *) cxx=c++ ;;
    esac
    command -v "$cc" >/dev/null 2>&1 && command -v "$cxx" >/dev/null 2>&1 || cxx=c++
    echo "$cxx"
}

# Debian's libraries use Debian's C library: with another one the rooms, the simulators and their tests
# are built, as for another architecture. The kernel's headers are the system's.
options() {
    case $1 in
    musl-gcc)
        mkdir -p "$at/kernel"
        ln -sfn /usr/include/linux "$at/kernel/linux"
        ln -sfn /usr/include/asm-generic "$at/kernel/asm-generic"
        ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$at/kernel/asm"
        echo "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$(uname -m)" \
            "-DCMAKE_C_FLAGS=-idirafter$PWD/$at/kernel"
        ;;
    esac
}

failed=0
for cc in "$@"; do
    at=build/compilers/$cc log=build/compilers/$cc.log
    mkdir -p build/compilers
    # shellcheck disable=SC2046
    if cmake -S . -B "$at" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_CXX_COMPILER="$(beside "$cc")" $(options "$cc") --log-level=WARNING > "$log" 2>&1 &&
        cmake --build "$at" --target all vectors >> "$log" 2>&1 &&
        ctest --test-dir "$at" -L vectors --output-on-failure >> "$log" 2>&1; then
        echo "$cc: $("$cc" -dumpfullversion -dumpversion 2>/dev/null), $(grep -c 'warning:' "$log" || :) warnings"
    else
        failed=1
        echo "$cc: failed, see $log"
        grep -E 'error|Error|undefined' "$log" | head -5
    fi
done
exit $failed
