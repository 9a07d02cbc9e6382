#!/bin/sh
# leat sim FABRIC --contracts FILE: the example, both models, contracts that break, every mistake.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
example=share/contracts/office.contracts
file=$folder/c

# ---- the example ------------------------------------------------------------------------------
for model in rtl cell; do
    exits 0 "" "$leat" sim clos444 --contracts $example --cycles 300000 --seed 7 --model $model --json
    cp "$folder/stdout" "$folder/$model.json"
    same "$model: keys" "$(jq -c '[.fabric, .model, .seed, .cycles, .suspensions, .connections_admitted, .connections_refused, .kept, (.connections | length)]' "$folder/$model.json")" \
        "[\"clos444\",\"$model\",7,300000,0,9,1,true,10]"
    same "$model: all contracts kept" "$(jq -c '[.connections[] | select(.admitted) | .kept] | all' "$folder/$model.json")" true
    same "$model: promises above what is measured" "$(jq -c '[.connections[] | select(.promised.ctd_us)
        | .delay_us.max <= .promised.ctd_us and .cdv_us <= .promised.cdv_us and .lost == 0] | all' "$folder/$model.json")" true
done
same "one certificate" "$(jq -r .certificate "$folder/rtl.json")" "$(jq -r .certificate "$folder/cell.json")"
same "all but the model is equal" "$(jq -cS 'del(.model)' "$folder/rtl.json")" "$(jq -cS 'del(.model)' "$folder/cell.json")"
same "the refusal" "$(jq -c '.connections[] | select(.admitted | not) | [.name, .refusal.link, .refusal.criterion, .refusal.needed, .refusal.connection, .sent, .kept]' "$folder/cell.json")" \
    '["hasty","way","ctd",10,"hasty",0,null]'
same "the policer drops" "$(jq -c '.connections[] | select(.name == "wild") | .dropped > 2 * .delivered' "$folder/cell.json")" true
same "the policer tags" "$(jq -c '.connections[] | select(.name == "camera") | .tagged > 0 and .tagged_delivered > 0' "$folder/cell.json")" true
same "the numbers add up" "$(jq -c '[.connections[] | .sent == .shaper_lost + .dropped + .lost + .tagged_lost + .delivered + .tagged_delivered + .in_flight] | all' "$folder/cell.json")" true
same "what is in flight" "$(jq -c '[.connections[] | .in_flight >= 0 and .in_flight < 1000] | all' "$folder/cell.json")" true
same "the shaper" "$(jq -c '.connections[] | select(.name == "tamed") | .dropped == 0 and .delivered < .sent' "$folder/cell.json")" true
same "RM cells come back" "$(jq -c '.connections[] | select(.name == "files") | .rm_returned > 0 and .rm_sent - .rm_returned < 4' "$folder/cell.json")" true
exits 0 "" "$leat" sim clos444 --contracts $example --cycles 300000 --seed 7 --json
cmp -s "$folder/stdout" "$folder/cell.json" || fail "two runs differ"
exits 0 "" "$leat" sim clos444 --contracts $example --cycles 300000 --seed 7
text=$(cat "$folder/stdout")
has "totals" "$text" "10 connections, 9 admitted, 0 broken"
has "refused" "$text" "hasty        the way: CTD: 10000 ns wanted, promised"
has "certificate" "$text" "certificate $(jq -r .certificate "$folder/cell.json")"
exits 0 "" "$leat" sim clos:4,4,2/switching=vc --contracts $example --cycles 100000 --json
same "virtual channels" "$(jq -c '[.kept, .suspensions]' "$folder/stdout")" '[true,0]'

# ---- contracts that break ---------------------------------------------------------------------
for port in 0 4 8 12; do
    echo "from$port from=$port to=5 class=cbr pcr=48Mb/s clr=0 ctd=200us cdv=180us"
done > "$file"
exits 0 "" "$leat" sim clos444 --contracts "$file" --json
same "three fit" "$(jq -c '[.connections_admitted, .connections_refused, .kept, .suspensions]' "$folder/stdout")" '[3,1,true,0]'
same "why not four" "$(jq -c '.connections[3].refusal | [.link, .criterion, .unit]' "$folder/stdout")" '["spd","rate","cells/s"]'
for model in rtl cell; do
    exits 0 "" "$leat" sim clos444 --contracts "$file" --admit all --model $model --cycles 300000 --json
    same "four break a contract" "$(jq -c '[.kept, .suspensions > 0, (.connections[3].sent > 0)]' "$folder/stdout")" '[false,true,true]'
    jq -r .certificate "$folder/stdout" > "$folder/$model"
done
cmp -s "$folder/rtl" "$folder/cell" || fail "forced in: two certificates"
exits 0 "" "$leat" sim clos444 --contracts "$file" --admit all
has "forced in" "$(cat "$folder/stdout")" "forced in"
has "broken" "$(cat "$folder/stdout")" "BROKEN"
exits 0 "" "$leat" sim clos444 --contracts "$file" --admit checked
has "checked" "$(cat "$folder/stdout")" "3 admitted, 0 broken"

# ---- units ------------------------------------------------------------------------------------
{
    echo "a from=0 to=1 class=cbr pcr=1000 cdvt=2cells"
    echo "b from=0 to=1 class=cbr pcr=424kb/s cdvt=5300ns"
    echo "  c from=0 to=1 class=cbr pcr=0.424Mb/s cdvt=5.3us # the same"
    printf 'd from=0 to=1 class=cbr pcr=1e3cells/s cdvt=0.0053ms\r\n'
    printf 'port all buffer=8\nport 0 w=4 nrt-buffer=5 nrt-clp=5 best-buffer=3 efci=1'
} > "$file"
exits 0 "" "$leat" sim bmx:2 --contracts "$file" --cycles 1000 --json
same "units" "$(jq -c '[.connections[].contract | [.pcr, .cdvt_us]] | unique' "$folder/stdout")" "[[1000,5.3]]"
input=$file exits 0 "" "$leat" sim bmx:2 --contracts - --cycles 1000

# ---- mistakes ---------------------------------------------------------------------------------
# wrong LINE TEXT: the file of one good line and LINE is refused at line 2
wrong() {
    { echo "good from=0 to=1 class=ubr"; echo "$1"; } > "$file"
    exits 2 "$file:2: $2" "$leat" sim clos444 --contracts "$file"
}
cbr="x from=0 to=1 class=cbr"
wrong "x" "no class, expected one"
wrong "good from=0 to=1 class=ubr" "'good' for the second time"
wrong "x/y from=0 to=1 class=ubr" "'x/y' is no name, expected 1 to 31"
wrong "x from" "'from', expected key=value, key one of from to class"
wrong "x speed=3" "unknown key 'speed', expected one of from to class"
wrong "x from=0 from=1" "from for the second time"
wrong "x from=0 to=1 class=gold" "class 'gold', expected one of cbr, vbr-rt, vbr-nrt, abr, ubr"
wrong "x to=1 class=ubr" "no from, expected one: ubr needs it"
wrong "x from=16 to=1 class=ubr" "from '16', expected 0 to 15"
wrong "x from=0 to=-1 class=ubr" "to '-1', expected 0 to 15"
wrong "x from=0 to=1 class=ubr path=4" "path '4', expected 0 to 3"
wrong "$cbr" "no pcr, expected one: cbr needs it"
wrong "$cbr pcr=fast" "pcr 'fast', expected 1 to 4294967296 cells/s"
wrong "$cbr pcr=0" "pcr '0', expected 1 to"
wrong "$cbr pcr=5e9" "pcr '5e9', expected 1 to"
wrong "$cbr pcr=1e999" "pcr '1e999', expected 1 to"
wrong "$cbr pcr=2Gb/s" "pcr '2Gb/s', expected"
wrong "$cbr pcr=nan" "pcr 'nan', expected"
wrong "$cbr pcr=0x10" "pcr '0x10', expected"
wrong "$cbr pcr=9 scr=9" "scr, which cbr does not have"
wrong "$cbr pcr=9 cdvt=5" "cdvt '5', expected 0 to 1 second with its unit"
wrong "$cbr pcr=9 cdvt=2000ms" "cdvt '2000ms', expected 0 to 1 second"
wrong "$cbr pcr=9 clr=2" "clr '2', expected 0 to 1"
wrong "$cbr pcr=9 ctd=soon" "ctd 'soon', expected"
wrong "$cbr pcr=9 source=lazy" "source 'lazy', expected one of greedy, random, excess:FACTOR"
wrong "$cbr pcr=9 source=excess:0.5" "source excess:'0.5', expected a factor of 1 to 1000"
wrong "$cbr pcr=9 source=excess" "source 'excess', expected one of"
wrong "$cbr pcr=9 police=shoot" "police 'shoot', expected one of drop, tag, off"
wrong "$cbr pcr=9 shape=yes" "shape 'yes', expected one of off, on"
wrong "x from=0 to=1 class=vbr-rt pcr=9 scr=10 mbs=1" "scr above pcr"
wrong "x from=0 to=1 class=vbr-rt pcr=9 scr=9" "no mbs, expected one: vbr-rt needs it"
wrong "x from=0 to=1 class=vbr-rt pcr=9 scr=9 mbs=0" "mbs '0', expected 1 to 1048576"
wrong "x from=0 to=1 class=vbr-rt pcr=9 scr=9 mbs=99999999999999999999" "mbs '99999999999999999999', expected"
wrong "x from=0 to=1 class=vbr-nrt pcr=9 scr=9 mbs=1 cdv=1us" "cdv, which vbr-nrt does not have"
wrong "x from=0 to=1 class=abr pcr=9 mcr=10" "mcr above pcr"
wrong "x from=0 to=1 class=ubr clr=0" "clr, which ubr does not have"
wrong "port" "port alone, expected its number or all"
wrong "port 16 w=3" "port '16', expected 0 to 15"
wrong "port 3 w=0" "w '0', expected 1 to 65536"
wrong "port 3 depth=1" "unknown key 'depth', expected one of buffer clp"
wrong "port 3 buffer=0" "buffer '0', expected 1 to 65536"
wrong "port 3 buffer=8 clp=9" "port 3: clp 9, expected at most the buffer, 8"
wrong "$(printf 'x\001 from=0')" "a character outside ASCII text"
wrong "$(printf 'x%080d' 1)" "'x0000000000000000000...' is too long, expected words of up to 63"
: > "$file"
exits 2 "$file:1: no connection up to the end" "$leat" sim clos444 --contracts "$file"
i=0; while [ $i -le 1024 ]; do echo "c$i from=0 to=1 class=ubr"; i=$((i + 1)); done > "$file"
exits 2 "$file:1025: one connection too many, expected at most 1024" "$leat" sim bmx:2 --contracts "$file"
head -c 1100000 /dev/zero | tr '\0' '\n' > "$file"
exits 2 "longer than 1048576 octets" "$leat" sim bmx:2 --contracts "$file"
exits 2 "No such file" "$leat" sim clos444 --contracts "$folder/none"
exits 2 "--cycles '0', expected" "$leat" sim clos444 --contracts $example --cycles 0
exits 2 "--model 'gate', expected" "$leat" sim clos444 --contracts $example --model gate
exits 2 "--admit 'none', expected one of checked all" "$leat" sim clos444 --contracts $example --admit none
exits 2 "--load with --contracts, expected only" "$leat" sim clos444 --contracts $example --load 0.5
exits 2 "expected a clock with at most" "$leat" sim clos444/clock=1000000MHz --contracts $example

# ---- interrupting -----------------------------------------------------------------------------
interrupted INT "$leat" sim clos444 --contracts $example --cycles 1000000000000 --json
same "exit code of an interrupted run" $got 130
same "an interrupted run still tells what it has" "$(jq -c '.cycles > 0 and .cycles < 1000000000000 and .kept' "$folder/stdout")" true
interrupted INT "$leat" sim clos444 --contracts $example --cycles 1000000000000
same "exit code of an interrupted run for people" $got 130
has "an interrupted run says so" "$(head -n 1 "$folder/stdout")" " cycles, interrupted: "
mkfifo "$folder/live"
for signal in INT TERM; do
    "$leat" sim clos444 --contracts - < "$folder/live" > "$folder/stdout" 2> "$folder/stderr" &
    pid=$!
    exec 8> "$folder/live"
    echo "good from=0 to=1 class=ubr" >&8
    wait_until is_waiting $pid
    kill -$signal $pid
    got=0; wait $pid || got=$?
    exec 8>&-
    case $signal in INT) want=130 ;; TERM) want=143 ;; esac
    same "exit after SIG$signal while contracts are read" $got $want
    same "what is said then" "$(cat "$folder/stdout" "$folder/stderr")" ""
done
finish
