#!/bin/sh
# usage: pure.sh ARCHIVE... | pure.sh --self-test
# Fails if an archive needs anything but memory copies, strings, asserts, our own symbols, those of
# sanitizers, and those that the linker defines: on x86-64 position-independent code refers to the
# global offset table.
set -eu
impure() {
    "${NM:-nm}" -u "$1" | awk '$1 == "U" { print $2 }' | sort -u |
        grep -Ev '^(memcpy|memmove|memset|memcmp|strlen|strcmp|abort|__assert_fail|_GLOBAL_OFFSET_TABLE_|leat_.*|__(asan|ubsan|sanitizer|sancov|odr_asan|gcov).*)$' || true
}

# Archives made here: the linker's symbol is pure on every architecture, a clock and a heap are not.
self_test() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    echo 'extern char table[] __asm__("_GLOBAL_OFFSET_TABLE_"); void *leat_pure(void); void *leat_pure(void) { return table; }' > "$folder/pure.c"
    echo 'void *malloc(unsigned long); long time(long *); void *leat_impure(void); void *leat_impure(void) { return malloc((unsigned long)time(0)); }' > "$folder/impure.c"
    for name in pure impure; do
        "${CC:-cc}" -O1 -fPIC -c "$folder/$name.c" -o "$folder/$name.o"
        ar rcs "$folder/$name.a" "$folder/$name.o"
    done
    nm -u "$folder/pure.a" | grep -q _GLOBAL_OFFSET_TABLE_ || { echo "the table of addresses is not named here"; exit 1; }
    bad=$(impure "$folder/pure.a")
    [ -z "$bad" ] || { echo "called impure: $bad"; exit 1; }
    bad=$(impure "$folder/impure.a" | tr '\n' ' ')
    [ "$bad" = "malloc time " ] || { echo "impure: got '$bad', want 'malloc time '"; exit 1; }
}

[ "$1" != --self-test ] || { self_test; exit; }
for archive; do
    bad=$(impure "$archive")
    [ -z "$bad" ] || { echo "$archive: impure: $bad"; exit 1; }
done
