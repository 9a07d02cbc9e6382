#!/bin/sh
# doc/poets_guide.md: its pieces are those of guide.xml and guide.c, which print the same, and its mistakes are told as it says.
set -u
leat=$(realpath "$1")
guide=$(realpath "$2/program/poets_examples/guide")
root=$(realpath "$(dirname "$0")/../..")
share=$root/share/poets
. "$(dirname "$0")/../../test/lib.sh"
cd "$folder" || exit 1

# Every piece of code stands in its file, word for word.
python3 - "$root/doc/poets_guide.md" "$share/guide.xml" "$share/guide.c" << 'PY' || fail "the guide and its files differ"
import re, sys
page, xml, c = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
pieces = re.findall(r"```(xml|c)\n(.*?)```", page, re.S)
assert len(pieces) >= 12, len(pieces)
for language, piece in pieces:
    assert piece.strip("\n") in (xml if language == "xml" else c), piece
PY

# One answer, in XML and C, under every schedule: the largest number of the file.
largest=$(sed -n 's/.*type="node" P="{\([0-9]*\)}.*/\1/p' "$share/guide.xml" | sort -n | tail -n 1)
answer="node $largest leads
1 of 6 nodes lead"
for words in "" "--schedule fifo" "--schedule lifo" "--schedule random --seed 7" "--schedule delay:0.9 --seed 3" "--fabric tinsel"; do
    # shellcheck disable=SC2086
    same "XML $words" "$("$leat" graph run "$share/guide.xml" $words 2> told)" "$answer"
    has "it stops, $words" "$(cat told)" "stopped after"
done
for words in "" "fifo" "lifo" "random 7" "delay:0.9 3"; do
    # shellcheck disable=SC2086
    same "C $words" "$("$guide" $words 2> told)" "$answer"
done
same "with a schedule, XML and C have the same states" "$("$leat" graph run "$share/guide.xml" --schedule random --seed 7 --json 2> /dev/null | jq -r .states)" "$("$guide" random 7 2>&1 > /dev/null | sed 's/.*states //')"
has "log lines of level 3" "$("$leat" graph run "$share/guide.xml" --log 3 2> /dev/null)" "99 instead of"

# The mistakes, as the page makes them.
sed -n 's/^    \(sed .*\)/\1/p' "$root/doc/poets_guide.md" > mistakes
same "mistakes that are made" "$(wc -l < mistakes)" 4
mkdir -p build/try
ln -s "$root/share" share
sh -e mistakes || fail "a mistake cannot be made"
for name in mistakes crash storm last; do
    ! cmp -s build/try/$name.xml "$share/guide.xml" || fail "$name.xml has no mistake"
done
exits 2 "" "$leat" graph check build/try/mistakes.xml
same "both are told" "$(sed 's/.*xml:\([0-9]*\):.* \(E_[A-Z]*\): .*/\1\2/' "$folder/stderr" | paste -sd' ')" "$(grep -n 'RTS(out)' "$share/guide.xml" | cut -d: -f1)E_CC $(grep -n 'b:in-a:out' "$share/guide.xml" | cut -d: -f1)E_REF"
exits 1 "a handler crashed: memory that is not there (SIGSEGV) in OnSend of out, build/try/crash.xml:$(grep -n 'DEVICESTATE(tell) = false' "$share/guide.xml" | cut -d: -f1)" "$leat" graph run build/try/crash.xml
exits 0 "limit after" "$leat" graph run build/try/storm.xml --until 500ms
exits 0 "" "$leat" graph run build/try/last.xml --schedule lifo --until 200ms
[ "$(cat "$folder/stdout")" != "$answer" ] || fail "who believes the last claim is right by chance"
finish
