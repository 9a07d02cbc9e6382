#!/bin/sh
# The examples in C print the same as those in XML, line by line, under every schedule.
set -u
leat=$(realpath "$1")
examples=$(realpath "$2/program/poets_examples")
share=$(realpath "$(dirname "$0")/../../share/poets")
. "$(dirname "$0")/../../test/lib.sh"
answer() { sed 's/^[^ ]* (Thread 0x[0-9a-f]*): //' | sort; }
for name in ring clock_tree heat_plate shortest_paths ising pagerank spikes; do
    "$leat" graph run "$share/$name.xml" 2> /dev/null | answer > "$folder/answer"
    [ -s "$folder/answer" ] || fail "$name in XML has no answer"
    first=
    for words in "" "free" "fifo" "lifo" "random 1" "random 2" "delay:0.5 3" "delay:0.9 4"; do
        # shellcheck disable=SC2086
        exits 0 "" timeout "$run_limit" "$examples/$name" $words
        answer < "$folder/stdout" | cmp -s - "$folder/answer" || fail "$name $words: another answer than in XML"
        states=$(sed 's/.*states //' "$folder/stderr")
        same "$name $words: its states" "$states" "${first:=$states}"
    done
done
finish
