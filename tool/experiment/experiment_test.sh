#!/bin/sh
# leat experiment: the thesis' measurements, against the closed forms and a plain model of its rule.
set -u
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
model() { python3 "$here/experiment_model.py" "$@"; }
value() { python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."): value = value[key]
print(value)' "$1" "$2"; }

# ---- echo: without contention delays are T(N), and all figures follow from them
exits 0 "" "$leat" experiment echo --json
cp "$folder/stdout" "$folder/echo.json"
same "echo" "$(model echo "$folder/echo.json")" ""
same "r_max" "$(value "$folder/echo.json" measured.r_max)" 0.087145619
same "n_1/2" "$(value "$folder/echo.json" measured.n_half)" 12.0
exits 0 "" "$leat" experiment echo --bytes 4,16,1000,67912 --model rtl --json
cp "$folder/stdout" "$folder/rtl.json"
same "echo, rtl" "$(model echo "$folder/rtl.json")" ""
exits 0 "" "$leat" experiment echo --bytes 4,400 -o "$folder/echo.html"
has "echo as text" "$(cat "$folder/stdout")" "regression: measured"
# Its page: well-formed, with figures 11.16 and 11.17, what was published, Minnesota, and the search for n_1/2.
python3 - "$folder/echo.html" << 'EOF' || fail "the page of echo"
import sys, xml.etree.ElementTree as tree
page = tree.parse(sys.argv[1]).getroot()
charts = {svg.get("id"): {t.text for t in svg.iter() if t.tag.endswith("title")} for svg in page.iter() if svg.tag.endswith("svg")}
for chart, tip in [("figure-11-16", "measured here at octets 400: 4733 cycles"), ("figure-11-16", "published at octets 65000: 1157703 cycles"),
                   ("figure-11-17", "published at octets 45000: 0.05934 octets per cycle"), ("minnesota", "published at octets 45000: 36.91 Mbit/s"),
                   ("half", "measured here at octets 12: 0.5278 of r_max")]:
    if tip not in charts[chart]: sys.exit("%s: no '%s' among %s" % (chart, tip, sorted(charts[chart])))
if "Minnesota, 27.202" not in "".join(page.itertext()): sys.exit("no Minnesota")
EOF
# Interrupted: the sizes measured so far, in text and JSON.
many=$(seq -s , 60000 4 60800)
for form in "" --json; do
    interrupted INT "$leat" experiment echo --bytes "$many" ${form:+$form}
    same "exit code of an interrupted experiment $form" $got 130
    cp "$folder/stdout" "$folder/some$form"
done
same "it says so" "$(tail -n 1 "$folder/some")" interrupted
same "figures of what was measured" "$(python3 -c 'import json, sys
some = json.load(sys.stdin)
print(len(some["delay"]) < 201, "measured" in some, all(p["cycles"] > 0 for p in some["delay"]))' < "$folder/some--json")" "True False True"
# Other fabrics take 12 cycles less (one stage) or 6 more (virtual channels), which T(N) does not know.
for fabric in "bmx:16 6 T(N)-12" "clos444/switching=vc 24 T(N)+6"; do
    # shellcheck disable=SC2086
    set -- $fabric
    exits 0 "" "$leat" experiment echo --bytes 4,16,1000 --fabric "$1" --json
    cp "$folder/stdout" "$folder/other.json"
    same "echo, $1" "$(model echo "$folder/other.json")" ""
    same "cycles to cross $1" "$(value "$folder/other.json" network_cycles)" "$2"
    exits 0 "" "$leat" experiment echo --bytes 4,400 --fabric "$1"
    has "the closed form over $1" "$(cat "$folder/stdout")" "$3   published"
    has "said for $1" "$(cat "$folder/stdout")" "T(N) holds for the thesis' network"
done
# A poller finds its message at most 81 cycles late, and the words of its own request with it.
exits 0 "" "$leat" experiment echo --bytes 4,40,1000 --polling --json
late=$(python3 -c 'import json, sys
print(all(0 <= p["cycles"] - p["theory_cycles"] < 81 for p in json.load(sys.stdin)["delay"]))' < "$folder/stdout")
same "pollers" "$late" True

# ---- linear: example 4, its published study, and the same certificate twice
exits 0 "" "$leat" experiment linear --json
cp "$folder/stdout" "$folder/linear.json"
same "messages sent" "$(value "$folder/linear.json" snd)" 37
same "messages received" "$(value "$folder/linear.json" rcv)" 97
# Where cells never meet the run may take longer, if messages come in another order at a port. That is said, and only then.
"$leat" experiment linear --fabric clos444/buffer=64 --json > "$folder/order.json"
jq -e '.last_cycle < .last_cycle_contention_free and .reordered > 0' "$folder/order.json" > /dev/null || fail "an order that takes longer"
has "its reason" "$("$leat" experiment linear --fabric clos444/buffer=64)" \
    "$(jq .reordered "$folder/order.json") messages are sent or received in another order"
case $("$leat" experiment linear) in *"takes longer"*) fail "a reason where none is needed" ;; esac
same "published run" "$(value "$folder/linear.json" published.last_cycle)" 14228
same "published records, by the rule" "$(value "$folder/linear.json" published.last_cycle_by_rule)" 8060
same "published timeline" "$(value "$folder/linear.json" published.last_cycle_by_hand)" 9211
has "solution" "$(value "$folder/linear.json" result)" "x1 = -1.000000
x2 = 1.000000"
exits 0 "" "$leat" experiment linear --json --model rtl
same "twice, in both models" "$(cat "$folder/stdout")" "$(cat "$folder/linear.json")"
exits 0 "" "$leat" experiment linear -o "$folder/linear.html"
has "linear as text" "$(cat "$folder/stdout")" "8060"
# Figure 11.18: each track ends with its last record, counted from its first.
python3 - "$folder/linear.html" "$folder/linear.json" << 'EOF' || fail "the page of linear"
import json, re, sys, xml.etree.ElementTree as tree
page, said = tree.parse(sys.argv[1]).getroot(), json.load(open(sys.argv[2]))
rows = {row[0].text: [int(cell.text) for cell in row[1:]] for row in page.iter() if row.tag.endswith("tr") and row[1].text.isdigit()}
want = {"measured": said["last_cycle"], "measured, by the rule": said["last_cycle_by_rule"], "cells never meet": said["last_cycle_contention_free"],
        "published": 14228, "published, by the rule": 8060}
text = "".join(page.itertext())
ends = {name: float(re.search(r"\. " + re.escape(name) + r": 1 at 0 to [0-9.]+ at ([0-9.]+)\.", text)[1]) for name in want}
for name, last in want.items():
    if rows[name][2] != last or ends[name] != last - rows[name][1]: sys.exit("%s: %s, ends at %s, want %s" % (name, rows[name], ends[name], last))
EOF
printf '2 1 5 # a comment\n1 3 10\n' > "$folder/small.in"
cp "$folder/small.in" "$folder/kept.in"
exits 0 "" "$leat" experiment linear "$folder/small.in" --json
cp "$folder/stdout" "$folder/small.json"
has "small system" "$(value "$folder/small.json" result)" "x1 = 1.000000
x2 = 3.000000"
same "its own input" "$(cat "$folder/small.in")" "$(cat "$folder/kept.in")"

# ---- matrix
exits 0 "" "$leat" experiment matrix --json
cp "$folder/stdout" "$folder/matrix.json"
exits 0 "" "$leat" experiment matrix -o "$folder/matrix.html"
grep -q "9211\|Figure 11" "$folder/matrix.html" && fail "the page of matrix has what was published of linear"
has "product" "$(value "$folder/matrix.json" result)" "1 2 
3 5 "

# ---- faults: the same results, or an end with a reason
python3 "$here/../../test/soak/faults.py" "$leat" 6 1 > "$folder/told" 2>&1 || fail "faults: $(tail -n 5 "$folder/told")"
exits 1 "a message from port 0 to port 1 was lost: its port gave it up" "$leat" experiment linear --retransmit 4000 --fault "link:0-4 link:0-5 link:0-6 link:0-7"
for model in cell rtl; do
    exits 0 "" "$leat" experiment matrix --retransmit 4000 --fault ber:1e-4 --model $model --json
    jq -c 'select(.lost > 0 and .retransmissions > 0 and .status == "done") | [.lost, .retransmissions]' "$folder/stdout" > "$folder/lost.$model"
done
[ -s "$folder/lost.cell" ] || fail "a bus matrix loses cells, and nobody says so"
same "lost in both models" "$(cat "$folder/lost.cell")" "$(cat "$folder/lost.rtl")"
exits 2 "--fault link:0-12" "$leat" experiment matrix --fault link:0-12

# ---- contention: the rule on records of any kind
seed=1
while [ $seed -le 30 ]; do
    model records "$folder/records.csv" $seed
    exits 0 "" "$leat" experiment contention "$folder/records.csv" --json
    cp "$folder/stdout" "$folder/said.json"
    same "rule, records $seed" "$(value "$folder/said.json" last_cycle_by_rule)" "$(model rule "$folder/records.csv" 16)"
    seed=$((seed + 1))
done
exits 0 "" "$leat" experiment contention "$folder/records.csv" --fabric bmx:4 --json
cp "$folder/stdout" "$folder/said.json"
same "rule, four ports" "$(value "$folder/said.json" last_cycle_by_rule)" "$(model rule "$folder/records.csv" 4)"

exits 0 "" "$leat" experiment contention "$here/../../proto/atm/vectors/apps/comm_experimental.csv" --json -o "$folder/records.html"
cp "$folder/stdout" "$folder/said.json"
grep -q 'id="figure-11-18"' "$folder/records.html" || fail "the page of records"
same "rule, published records" "$(value "$folder/said.json" last_cycle_by_rule)" 8060

# ---- compare: the same figures as the experiments one by one, costs as fabrics tell them
exits 0 "" "$leat" experiment compare --fabrics clos444,torus:4,4/cells,crossbar:16/cells/switch=output/buffer=1 --obsolete 4000000 --json -o "$folder/compare.html"
cp "$folder/stdout" "$folder/compare.json"
at() { jq -r ".fabrics[$1] | $2" "$folder/compare.json"; } # at FABRIC FILTER
for program in linear matrix; do
    same "compared: $program" \
        "$(at 0 ".programs[] | select(.name == \"$program\") | \"\(.last_cycle) \(.last_cycle_contention_free) \(.certificate) \(.reordered)\"")" \
        "$(jq -r '"\(.last_cycle) \(.last_cycle_contention_free) \(.certificate) \(.reordered)"' "$folder/$program.json")"
done
same "T(4), and T(65000)" "$(at 0 '[.delay[].cycles] | tostring')" "[193,$(jq '.delay[] | select(.bytes == 65000).cycles' "$folder/echo.json")]"
same "a comma before a digit" "$(at 1 .fabric)" torus:4,4/cells
for i in 0 1 2; do
    same "cost of $(at $i .fabric)" "$(at $i .cost)" "$("$leat" fabric show "$(at $i .fabric)" --json | jq .cost)"
    same "results of $(at $i .fabric)" "$(at $i '[.programs[].result]')" "$(at 0 '[.programs[].result]')"
    grep -q "<th scope=\"row\">$(at $i .fabric)</th>" "$folder/compare.html" || fail "the page lacks $(at $i .fabric)"
    grep -q "<td class=\"n\">$(at $i '.programs[0].last_cycle')</td>" "$folder/compare.html" || fail "the page lacks a time of $(at $i .fabric)"
done
same "short queues lose cells, units repair that" "$(at 2 '[.programs[0] | .lost > 0, .retransmissions > 0] | tostring')" "[true,true]"
exits 0 "" "$leat" experiment linear --fabric crossbar:16/cells/switch=output/buffer=1 --obsolete 4000000 --json
same "the same without a comparison" "$(jq -c '[.lost, .retransmissions]' "$folder/stdout")" "$(at 2 '.programs[0] | [.lost, .retransmissions]' | jq -c .)"
same "deep queues lose none" "$(at 1 '[.programs[].lost] | add')" 0
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$folder/compare.html" || fail "the page is not well-formed"
same "bars and charts" "$(grep -c '<svg' "$folder/compare.html")" 6
# Where a program cannot run, the others do; clocks that differ are compared in time.
exits 1 "crossbar:2/cells: failed" "$leat" experiment compare -n 6 --fabrics crossbar:2/cells,bmx:16/clock=100ns
has "the other one" "$(cat "$folder/stdout")" "times in us"
same "a row each" "$(grep -c '^crossbar:2/cells .* failed .* 16 \|^bmx:16/clock=100ns .* 256 ' "$folder/stdout")" 2

# ---- circuit: every line carries it; what the code leaves of lost cells and wrong bits is what a plain sum says
exits 0 "" "$leat" experiment circuit --line all --blocks 3 --json
same "lines without errors" "$(jq -s '[length, (map(.blocks) | add), (map(.octets_left_wrong + .headers_discarded + .blocks_given_up) | add)] | @csv' "$folder/stdout")" '"9,27,0"'
exits 0 "" "$leat" experiment circuit --cell-loss 0.02 --blocks 2000 --json
cp "$folder/stdout" "$folder/lossy.json"
exits 0 "" "$leat" experiment circuit --cell-loss 0.02 --blocks 2000 --json
same "the same seed" "$(cat "$folder/stdout")" "$(cat "$folder/lossy.json")"
exits 0 "" "$leat" experiment circuit --line cell155 --ber 1e-3 --blocks 800 --json
python3 - "$folder/lossy.json" "$folder/stdout" << 'EOF' || fail "the residual loss of a circuit"
import json, sys
from math import comb
lossy, noisy = (json.load(open(file)) for file in sys.argv[1:])
near = lambda what, got, want, part: abs(got - want) <= part * want or sys.exit("%s: %g, want %g" % (what, got, want))
left = lambda said: said["octets_left_wrong"] / said["blocks"] / 5828
# Lost cells alone: more than four of 128 stay lost, and 0 in their place is right once in 256.
p = 0.02
want = sum(comb(128, k) * p**k * (1 - p)**(128 - k) * k / 128 for k in range(5, 129)) * 255 / 256
near("formula of losses", lossy["expected"]["octets_left_wrong_share"], want, 1e-6)
near("loss left", left(lossy), want, 0.1)
near("cells dropped", lossy["cells_dropped"] / lossy["cells"], p, 0.02)
# Wrong bits: a header with two or more, or with any behind another wrong one.
b = 1e-3
any_bit, one = 1 - (1 - b)**40, 40 * b * (1 - b)**39
near("formula of headers", noisy["expected"]["discarded_share"], (1 - any_bit) * (any_bit - one) + any_bit**2, 1e-6)
near("headers", noisy["headers_discarded"] / noisy["cells"], noisy["expected"]["discarded_share"], 0.15)
near("octets wrong", noisy["octets_wrong"] / noisy["delivered"] / 48, 1 - (1 - b)**8, 0.03)
near("octets left wrong", left(noisy), noisy["expected"]["octets_left_wrong_share"], 0.1)
EOF
exits 0 "" "$leat" experiment circuit --line taxi100 --ber 1e-4 --blocks 2
has "a line without a formula" "$(cat "$folder/stdout")" "user octets wrong after correction"
exits 0 "" "$leat" experiment circuit --cell-loss 1 --blocks 1
same "shares of nothing" "$(grep -c ' -    ' "$folder/stdout")" 2
interrupted INT "$leat" experiment circuit --line all --blocks 1000000
same "an interrupted circuit" $got 130
has "its text" "$(cat "$folder/stdout")" "lost cells 0, interrupted"
exits 2 "--line 'stm4', expected one of leat fabric lines" "$leat" experiment circuit --line stm4
exits 2 "--ber" "$leat" experiment circuit --ber 2
exits 2 "circuit: expected no file" "$leat" experiment circuit "$folder/small.in"

# ---- bad input
head='cycle,op,tag,src_task,dst_task,note'
bad() { # bad TEXT LINE...
    text=$1
    shift
    printf '%s\n' "$@" > "$folder/bad.csv"
    exits 2 "$text" "$leat" experiment contention "$folder/bad.csv"
}
bad "bad.csv:1: 'nothing', expected the line cycle,op" nothing
bad "bad.csv: no records, expected some" "$head"
bad "bad.csv:2: cycle 'x', expected a number" "$head" "x,snd,1,srp:0,srp:1,"
bad "bad.csv:3: operation 'got', expected snd or rcv" "$head" "1,snd,1,srp:0,srp:1," "2,got,1,,srp:1,"
bad "bad.csv:2: tag '-1', expected a number" "$head" "1,snd,-1,srp:0,srp:1,"
bad "bad.csv:2: source 'srp', expected NAME:INSTANCE" "$head" "1,snd,1,srp,srp:1,"
bad "bad.csv:2: destination '', expected NAME:INSTANCE" "$head" "1,rcv,1,,,"
bad "record 1: tag 7 comes to srp:1, but was not sent to it before" "$head" "1,rcv,7,,srp:1,"
bad "record 2: srp:0 did something later before it, expected the order of time" "$head" "9,snd,7,srp:0,srp:1," "3,snd,7,srp:0,srp:1,"
bad "record 1: the cycle of this snd" "$head" ",snd,7,srp:0,srp:1,"
exits 2 "missing.csv: No such file" "$leat" experiment contention "$folder/missing.csv"
exits 2 "expected one of echo linear matrix contention compare circuit" "$leat" experiment
exits 2 "an empty name, expected fabrics with commas between" "$leat" experiment compare --fabrics clos444,,bmx:4
exits 2 "a network of switches, expected an ATM fabric here" "$leat" experiment compare --fabrics clos444,mesh:4,4
exits 2 "-n '12', expected a whole number, 2 to 11" "$leat" experiment compare -n 12
exits 2 "compare: expected no file; fabrics come with --fabrics" "$leat" experiment compare clos444
exits 2 "'liner', did you mean linear? expected one of echo linear" "$leat" experiment liner
exits 0 "" "$leat" experiment echo --help
has "help of a subverb" "$(cat "$folder/stdout")" "leat experiment echo: measure the one-way delay"
exits 0 "--sizes is called --bytes now" "$leat" experiment echo --sizes 4,1k
exits 2 "expected one file of records" "$leat" experiment contention
exits 2 "echo: expected no file" "$leat" experiment echo "$folder/small.in"
exits 2 "expected up to 256 multiples of 4 from 4 to 67912" "$leat" experiment echo --bytes 4,5
exits 2 "--model 'cel', did you mean cell? expected one of rtl cell" "$leat" experiment echo --model cel
exits 2 "standard output and -o name one file" "$leat" experiment echo -o -
exits 2 "-o and the input name one file" "$leat" experiment linear "$folder/small.in" -o "$folder/small.in"
exits 1 "No such file or directory" "$leat" experiment linear -o "$folder/none/page.html"
exits 2 "linear: expected one file at most" "$leat" experiment linear a b -o "$folder/never.html"
[ ! -e "$folder/never.html" ] || fail "a page of nothing"
exits 2 "--bytes does not go with linear" "$leat" experiment linear --bytes 4
exits 2 "linear: expected one file at most" "$leat" experiment linear a b
exits 2 "" "$leat" experiment linear "$folder/missing.in"
exits 2 "" "$leat" experiment echo --fabric mesh:4,4
printf '1 2 3\n' > "$folder/bad.in"
exits 2 "expected" "$leat" experiment linear "$folder/bad.in"
finish
