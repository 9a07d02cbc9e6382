#!/bin/sh
# leat run: programs of leat/atm_task.h, the thesis' own first of all, over ATM fabrics.
# run_atm_test.sh LEAT BUILD
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs python3 jq
leat=$(readlink -f "$1") build=$2
vectors=$(pwd)/proto/atm/vectors/apps
programs=$(readlink -f "$(dirname "$leat")/../program/programs")
model() { python3 "$(dirname "$0")/atm_model.py" "$@"; }

# run WORD...: over clos444, unless it says otherwise
run() { exits 0 '' "$leat" run --fabric "${fabric:-clos444}" "$@"; }
number() { tail -n 1 "$folder/stdout" | jq -r ".$1"; }

# ---- the published examples

for example in matrix_ex1 matrix_ex2 linear_ex4; do
    case $example in matrix*) program=mml ;; *) program=srl ;; esac
    cp "$vectors/$example.in" "$folder/file"
    run --messages "$folder/records.csv" -- "$programs/$program" "$folder/file"
    cmp -s "$folder/file" "$vectors/$example.out" || fail "$example: $(cat "$folder/file")"
done
same 'records of each worker' "$(model sequences "$vectors/comm_experimental.csv" "$folder/records.csv")" ''
same 'records of the workers' "$(grep -v 'start$' "$folder/records.csv" | grep -c 'snd\|rcv')" 134
same 'what they sent' "$(grep -v 'start$' "$folder/records.csv" | grep -c snd)" 37

# A message that nothing disturbs: octets, and cycles from the write lock to the last get (spec/atm.md, 5.4).
for pair in 1:169 2:177 3:185 4:193 8:231 16:307 17:389 52:717 53:802 1000:11640 67912:779222; do
    octets=${pair%:*}
    run --messages "$folder/records.csv" -- "$programs/ecs" $((octets / 4)) $((octets % 4))
    same "cycles of $octets octets" "$(model delay "$folder/records.csv")" "${pair#*:}"
    [ "$octets" -lt 4 ] || has "ecd with $octets octets" "$(cat "$folder/stderr")" "[ecd 0] $octets octets: ${pair#*:} cycles"
done

run --placement 1,5 -- snd # found by its name alone
has 'the first message' "$(cat "$folder/stderr")" '[rcv 1] (cycle = 193, x1 = 285)'
has 'the second message' "$(cat "$folder/stderr")" 'x2 = 544, x3 = 1297.456'
run --placement 1,5 --json="$folder/snd.json" -- snd
same 'what one task sent to the other' "$(jq -c '[.bytes, .pairs]' "$folder/snd.json")" '[12,[{"sender":0,"receiver":1,"messages":2,"bytes":12}]]'
# A broadcast and a message, a cell each; the sender acknowledges its own copy too (spec/atm.md, R8).
same 'their cells' "$(jq -c '[.busiest_wires[] | select(.wire | test("port [15]>|>port 5")) | "\(.wire): \(.cells)"]' "$folder/snd.json")" \
    '["port 1>0: 3","port 5>1: 2","9>port 5: 2"]'

# ---- random systems and products, beside plain models; every third system has null pivots

impossible=0 null=0
for seed in $(seq 1 24); do
    model system "$seed" $((seed % 6 + 1)) > "$folder/file"
    model linear "$folder/file" > "$folder/want"
    ! grep -q '^0 ' "$folder/file" || null=$((null + 1))
    if grep -q impossible "$folder/want"; then
        impossible=$((impossible + 1))
        cp "$folder/file" "$folder/before"
        exits 1 'solution impossible' "$leat" run --fabric clos444 -- "$programs/srl" "$folder/file"
        cmp -s "$folder/file" "$folder/before" || fail "system $seed: something was appended"
    else
        run -- "$programs/srl" "$folder/file"
        cmp -s "$folder/file" "$folder/want" || fail "system $seed: $(cat "$folder/file")"
    fi
done
[ "$impossible" -gt 0 ] && [ "$null" -gt 2 ] || fail "$impossible impossible systems, $null with null pivots"
for shape in '1 1 1 1' '2 3 4 2' '3 2 5 3' '4 1 6 2' '5 6 1 6' '6 12 6 12'; do
    # shellcheck disable=SC2086
    model product $shape > "$folder/file"
    model matrix "$folder/file" > "$folder/want"
    run -- "$programs/mml" "$folder/file"
    cmp -s "$folder/file" "$folder/want" || fail "product $shape: $(cat "$folder/file")"
done
model system 7 12 > "$folder/file" # as many tasks as the units serve: 156
model linear "$folder/file" > "$folder/want"
fabric=clos444 run -- "$programs/srl" "$folder/file"
cmp -s "$folder/file" "$folder/want" || fail "12 unknowns: $(tail -n 12 "$folder/file")"

# ---- every run is the same run, by both models, over other fabrics, polling or not

for fabric in clos444 bmx:8 clos:2,3,4/buffer=2; do
    for way in '--model cell' '--model cell' '--model rtl'; do
        cp "$vectors/linear_ex4.in" "$folder/file"
        # shellcheck disable=SC2086
        run $way --json --messages "$folder/records.csv" -- "$programs/srl" "$folder/file"
        cmp -s "$folder/file" "$vectors/linear_ex4.out" || fail "$fabric: another result"
        number 'certificate + " \(.simulated_seconds) \(.messages) \(.bytes)"' >> "$folder/certificates"
        cksum < "$folder/records.csv" >> "$folder/sums"
    done
    same "$fabric: certificates" "$(sort -u "$folder/certificates" | wc -l)" 1
    same "$fabric: records" "$(sort -u "$folder/sums" | wc -l)" 1
    rm "$folder/certificates" "$folder/sums"
done
fabric=clos444
same 'library' "$(number library)" atm
same 'messages' "$(number messages)" 81
cp "$vectors/linear_ex4.in" "$folder/file"
run --polling -- "$programs/srl" "$folder/file"
cmp -s "$folder/file" "$vectors/linear_ex4.out" || fail "polling: another result"
cp "$vectors/linear_ex4.in" "$folder/file"
exits 0 'without contention' "$leat" run --fabric clos444 --contention -- "$programs/srl" "$folder/file"

# ---- bad input is named

refused() { # refused PROGRAM TEXT REASON
    printf '%b' "$2" > "$folder/file"
    exits 2 "$folder/file:$3" "$leat" run --fabric clos444 -- "$programs/$1" "$folder/file"
    has "$1 of '$2'" "$(cat "$folder/stderr")" 'it ended with code 2'
    same "$1 of '$2' leaves the file alone" "$(cat "$folder/file")" "$(printf '%b' "$2")"
}
refused srl '' '0: no row of numbers, expected one at least'
refused srl '1 2 3\n4 5 6 7\n' '2: 4 numbers, expected 3'
refused srl '1 2 3\n4 x 6\n' "2: 'x 6' is no integer"
refused srl '1 2 3\n4 5 99999999999\n' "2: '99999999999' does not fit"
refused srl '1 2 3\n' '1: 1 rows of 3 numbers, expected one number more'
refused mml '1 2\n3 4\n' "2: the file ends, expected a line with '*'"
refused mml '1 2\n3 4\n*\n5 6\n' '4: 1 rows of the second matrix, expected 2'
refused mml '*\n5 6\n' '1: no row of numbers'
exits 2 "$folder/nothing: No such file" "$leat" run --fabric clos444 -- "$programs/srl" "$folder/nothing"
exits 2 'ecs: expected a number of integers' "$leat" run --fabric clos444 -- "$programs/ecs" many
exits 2 'srl: expected a file' "$leat" run --fabric clos444 -- "$programs/srl"
exits 1 'not started by `leat run`' "$programs/snd"
exits 2 'expected one, as in --fabric clos444' "$leat" run --fabric mesh:4,4 -- "$programs/snd"
exits 2 'has no meaning but for programs of leat/atm_task.h' "$leat" run --fabric clos444 --messages "$folder/r" --library pvm -- true
exits 2 'standard output is the program' "$leat" run --fabric clos444 --messages - -- "$programs/snd"
exits 2 '--records is called --messages now' "$leat" run --fabric clos444 --records /nowhere/r -- "$programs/snd"
exits 2 '/nowhere/r' "$leat" run --fabric clos444 --messages /nowhere/r -- "$programs/snd"
model system 1 13 > "$folder/file"
exits 1 'port 1 has as many tasks of that name as its unit serves' "$leat" run --fabric clos444 -- "$programs/srl" "$folder/file"

# ---- a program of one's own: built beside the build folder, run, gone wrong

cat > "$folder/one.c" <<'C'
#include <leat/atm_task.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    struct shmst *dev;
    struct prcsdescstr *tab;
    char text[32];
    const char *what = argc > 1 ? argv[1] : "";
    if (atmjoin(&dev, &tab)) return 1;
    if (atminst(dev) == 0) {
        atmstart(dev, tab, "one", 1);
        atminitsend(dev);
        atmputstring(dev, "hello");
        atmsnd(dev, tab, "one", 1, 3);
        if (!strcmp(what, "deadlock")) atmrcv(dev, 9);
        return 0;
    }
    atmrcv(dev, strcmp(what, "deadlock") ? 3 : 7);
    atmgetstring(dev, text);
    dev->rlcked = 0;
    puts(text);
    if (!strcmp(what, "crash")) raise(SIGSEGV);
    return strcmp(what, "code") ? 0 : 9;
}
C
# builds WHERE: with pkg-config as found there
builds() {
    # shellcheck disable=SC2046
    cc -std=c17 -o "$folder/one" "$folder/one.c" $(PKG_CONFIG_PATH=$1 pkg-config --cflags --libs leat-atm) || fail "a user's program does not build with $1"
}
if command -v pkg-config > /dev/null; then
    builds "$build"
    run -- "$folder/one"
    has 'a program of ones own' "$(cat "$folder/stderr")" '[one 1] hello'
    exits 1 'task 1: one 1: it was killed by signal 11' "$leat" run --fabric clos444 -- "$folder/one" crash
    exits 9 'one 1 ended with code 9' "$leat" run --fabric clos444 -- "$folder/one" code
    exits 1 'deadlock: all tasks wait' "$leat" run --fabric clos444 -- "$folder/one" deadlock
    has 'who waits for what' "$(cat "$folder/stderr")" 'atmrcv of type 7 (one 1)'
    exits 1 'was lost: its port gave it up' "$leat" run --fabric clos444 --dead 1 --retransmit 1000 -- "$folder/one"
    cp "$folder/one" "$folder/ab"
    exits 2 'expected three letters' "$leat" run --fabric clos444 -- "$folder/ab"
    # Installed: by its own pkg-config file, and found at run time without a word.
    DESTDIR="$folder/tree" cmake --install "$build" --prefix /usr > "$folder/log" 2>&1 || fail "install: $(tail -n 3 "$folder/log")"
    builds "$(dirname "$(find "$folder/tree" -name leat-atm.pc)")"
    leat=$folder/tree/usr/bin/leat
    run -- "$folder/one"
    has 'with an installed leat' "$(cat "$folder/stderr")" '[one 1] hello'
    run -- "$folder/tree/usr/lib/leat/programs/snd"
    has 'an installed program' "$(cat "$folder/stderr")" 'x1 = 285'
    exits 1 'not started by `leat run`' "$folder/tree/usr/lib/leat/programs/snd"
fi
wait_until no_process "$folder/" || fail "processes are left"
finish
