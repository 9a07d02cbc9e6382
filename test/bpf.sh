#!/bin/sh
# Programs for the kernel never include a header of the C library: the build uses only headers of
# the kernel, of libbpf and of the compiler, and those of ours that say so. The programs compile with
# the kernel headers of every other architecture that is installed here. A program that needs the C
# library does not compile.
# usage: bpf.sh CLANG UAPI SKELETONS FLAG...   from the root of the project
set -eu
clang=$1 uapi=$2 skeletons=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
rooms=-Iinclude
for room in core proto/* proto/*/* live/*; do [ ! -d "$room" ] || rooms="$rooms -I$room"; done
# compile UAPI SOURCE FLAG...
compile() {
    headers=$1 source=$2
    shift 2
    # shellcheck disable=SC2086 # words
    "$clang" "$@" -isystem "$headers" $rooms -fsyntax-only "$source" 2> "$folder/stderr"
}
# A program of one header.
includes() {
    echo "#include <$1>" > "$folder/one.c"
    shift
    compile "$uapi" "$folder/one.c" "$@"
}

for header in linux/bpf.h linux/if_ether.h stdint.h stddef.h stdbool.h; do
    includes $header "$@" || fail "<$header> is missing: $(cat "$folder/stderr")"
done
for header in string.h stdlib.h stdio.h assert.h features.h gnu/stubs.h sys/types.h netinet/in.h; do
    ! includes $header "$@" || fail "<$header> of the C library is seen"
done

# What the build's own programs were made of.
own=$("$clang" -print-resource-dir)
for made in "$skeletons"/*.d; do
    sed 's/^[^:]*://; s/\\$//' "$made" | tr ' ' '\n' | grep . > "$folder/made"
    while read -r file; do
        case $file in
        "$uapi"/linux/* | "$uapi"/asm/* | "$uapi"/asm-generic/* | "$uapi"/bpf/* | "$own"/*) ;;
        *.bpf.c) ;;
        "$PWD"/*.h) grep -q 'Also compiled for the kernel' "$file" || fail "$made: ${file#"$PWD"/} does not say that it is compiled for the kernel" ;;
        *) fail "$made: $file is neither the kernel's, libbpf's, the compiler's nor ours" ;;
        esac
    done < "$folder/made"
done

# Here, and with the headers of other architectures.
tried=
for include in "$uapi" /usr/*-linux-gnu*/include; do
    [ -d "$include/asm" ] || continue
    [ -d "$include/linux" ] || continue
    other=$folder/uapi
    rm -rf "$other"
    mkdir "$other"
    for part in linux asm asm-generic; do ln -s "$include/$part" "$other/$part"; done
    ln -s "$uapi/bpf" "$other/bpf"
    for source in live/*/*.bpf.c bench/*.bpf.c; do
        compile "$other" "$source" "$@" || fail "$source with $include: $(cat "$folder/stderr")"
    done
    tried="$tried $include"
done
echo "with the headers of:$tried"
echo "$failures failures"
[ $failures -eq 0 ]
