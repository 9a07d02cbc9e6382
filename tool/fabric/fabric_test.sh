#!/bin/sh
# leat fabric: names and limits, what is shown of a network, the published tables as JSON.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

# ---- people -----------------------------------------------------------------------------------
exits 0 "" "$leat" fabric list
has "list" "$(cat "$folder/stdout")" "clos:E,M,R"
exits 0 "" "$leat" fabric list --json
same "list as JSON" "$(jq -r '"\(.name) \(.text)"' "$folder/stdout")" "$("$leat" fabric list | sed -n 's/^  \([^ ]*\)  */\1 /p')"
same "kinds of the list" "$(jq -r .kind "$folder/stdout" | uniq | tr '\n' ' ')" "atm flits aton ether packetway "
same "parameters of Ethernets" "$(jq -r 'select(.kind == "ether" and .parameter).name' "$folder/stdout" | tr '\n' ' ')" "/rate=MBITS /frame=OCTETS /buffer=FRAMES /esp=BITS "
exits 0 "" "$leat" fabric lines
has "a line" "$(cat "$folder/stdout")" "e3            34368000       80000.0        1.3 %  header checks"
has "a rate" "$(cat "$folder/stdout")" "ds3-adm       44736000      104268.1        1.2 %"
exits 0 "" "$leat" fabric lines --json
same "lines as JSON" "$(jq -r .name "$folder/stdout" | tr '\n' ' ')" "stm1 e1 e3 ds3-plcp ds3-adm cell155 cell622 taxi100 8b10b "
same "exact rate" "$(jq -r 'select(.name == "e1") | "\(.bits_per_second) \(.cells_numerator)/\(.cells_denominator) \(.overhead_share) \(.corrects_headers)"' "$folder/stdout")" "2048000 240000/53 0.0625 true"
exits 2 "lines: expected nothing more" "$leat" fabric lines e1
exits 0 "" "$leat" fabric show clos444
text=$(cat "$folder/stdout")
has "class" "$text" "Clos(4,4,4) of 16 x 16 ports, rearrangeable"
has "size" "$text" "12 switches in 3 stages, 48 PPDs, 48 SPDs; 4 paths from each port to each"
has "speed" "$text" "a cycle is 50 ns, a link carries 160 Mb/s"
has "idle" "$text" "leaves 18 cycles after it came"
has "links" "$text" "[  5]  20 > 33  21 > 37  22 > 41  23 > 45"
has "path 0 of the thesis' example" "$text" \
    "0: VPI 56 > PPD 5, SPD 4 > VPI 31 > PPD 17, SPD 19 > VPI 27 > PPD 44, SPD 46 > VPI 0"
has "its broadcast" "$text" \
    "0: VPI 64 > PPD 5, SPD 4 > VPI 33 > PPD 17, SPD 16-19 > VPI 29 > PPD 32 36 40 44, SPD 32-47 > VPI 0"
case $text in *"routing tables, VPI"*) fail "tables without --vpi" ;; esac

exits 0 "" "$leat" fabric show clos444 --vpi
same "tables" "$(grep -c '^PPD ' "$folder/stdout")" 48
same "entries of all tables" "$(sed -n '/^routing/,$p' "$folder/stdout" | grep -o ' > [0-9a]' | wc -l)" 3456
exits 0 "" "$leat" fabric show clos444 --vpi --path 5,14
same "tables on the paths of a pair" "$(grep '^PPD ' "$folder/stdout" | cut -d, -f1 | tr '\n' ' ')" \
    "PPD 5 PPD 17 PPD 21 PPD 25 PPD 29 PPD 44 PPD 45 PPD 46 PPD 47 "
exits 0 "" "$leat" fabric show clos444 --vpi --path 5,all
same "tables on the paths to all" "$(grep -c '^PPD ' "$folder/stdout")" 21
exits 0 "" "$leat" fabric show bmx:4 --path 3,all
has "a switch alone" "$(cat "$folder/stdout")" "0: VPI 4 > PPD 3, SPD 0-3 > VPI 0"
exits 0 "" "$leat" fabric show clos:4,7,4
has "more middle switches" "$(cat "$folder/stdout")" "16 x 16 ports, non-blocking"
exits 0 "" "$leat" fabric show clos:4,3,4/buffer=1/clock=3MHz
has "fewer" "$(cat "$folder/stdout")" "clos:4,3,4/buffer=1/clock=3MHz, an ATM fabric: Clos(4,3,4) of 16 x 16 ports, blocking"
exits 0 "" "$leat" fabric show clos:64,64,64 --vpi
has "a large network" "$(cat "$folder/stdout")" "12288 PPDs left out"
[ "$(wc -l < "$folder/stdout")" -lt 1000 ] || fail "too much is shown of a large network"

# ---- programs: equal to the published data, where it has these keys -----------------------------
for options in "--json" "--vpi --json"; do
    # shellcheck disable=SC2086
    exits 0 "" "$leat" fabric show clos444 $options
    for key in spd_to_ppd input_ports output_ports entries_used_per_ppd p2p_columns p2p broadcast tables; do
        ours=$key
        [ $key != tables ] || ours=routing_tables
        jq -S ".$ours" "$folder/stdout" > "$folder/got"
        jq -S ".$key" proto/atm/vectors/clos444.vpi.json > "$folder/want"
        cmp -s "$folder/got" "$folder/want" || fail "$key is not the published one"
    done
    same "nothing left out" "$(jq -c .left_out "$folder/stdout")" "[]"
done
# One pair has its rows of the whole, and its entries.
"$leat" fabric show clos:3,5,4 --json > "$folder/whole.json"
exits 0 "" "$leat" fabric show clos:3,5,4 --path 7,2 --json
same "rows of a pair" "$(jq -c '.p2p' "$folder/stdout")" "$(jq -c '[.p2p[] | select(.[0] == 7 and .[1] == 2)]' "$folder/whole.json")"
same "entries of a pair" "$(jq -c '.routing_tables | map_values(length) | add' "$folder/stdout")" 15
exits 0 "" "$leat" fabric show clos:3,5,4 --path 7,all --json
same "rows of a broadcast" "$(jq -c '.broadcast' "$folder/stdout")" "$(jq -c '[.broadcast[] | select(.src == 7)]' "$folder/whole.json")"
for pair in 7,2 7,all; do
    "$leat" fabric show clos:3,5,4 --path $pair --json > "$folder/pair.json"
    same "entries of $pair are those of the whole tables" "$(jq -s '.[0].routing_tables as $part | .[1].routing_tables as $whole
        | [$part | to_entries[] | .key as $p | .value | to_entries[] | .value == $whole[$p][.key]] | all' \
        "$folder/pair.json" "$folder/whole.json")" true
done
exits 0 "" "$leat" fabric show clos:64,64,64 --json
same "left out of a large network" "$(jq -c .left_out "$folder/stdout")" '["p2p","broadcast","routing_tables"]'
same "its links" "$(jq '.spd_to_ppd | length' "$folder/stdout")" 8192
exits 0 "" "$leat" fabric show clos:64,64,64 --path 4095,all --json
same "a broadcast of a large network" "$(jq -c '[.switching, .left_out, (.routing_tables | length)]' "$folder/stdout")" '["vc",[],4161]'
# Labels of any network with cells: the tables alone lead from each port's first label to the other end.
exits 0 "" "$leat" fabric show hypercube:3/cells --vpi --json
cp "$folder/stdout" "$folder/labels.json"
"$leat" fabric show hypercube:3/cells --vpi --path 1,6 --json > "$folder/path.json"
python3 - "$folder/labels.json" "$folder/path.json" << 'END' || fail "labels by tables"
import json, sys
whole, path = (json.load(open(name)) for name in sys.argv[1:])
table = {(t["router"], t["in"], *e[:2]): e[2:] for t in whole["label_tables"] for e in t["label_entries"]}
assert len(table) == whole["labels"] == 8 * 8 + 8 * 8 * 3 // 2, len(table)
hops, end = path["label_path"][:-1], path["label_path"][-1]
assert [h["router"] for h in hops] == [1, 0, 2, 6] and end["port"] == 6, path
for here, next_one in zip(hops, path["label_path"][1:]):
    assert table[here["router"], here["in"], here["vpi"], here["vci"]] == [here["output"], next_one["vpi"], next_one["vci"]], here
END
exits 0 "" "$leat" fabric show hypercube:3/cells --vpi --path 1,6
has "a label path" "$(cat "$folder/stdout")" "label path  port 1 > 0/"
has "its end" "$(cat "$folder/stdout")" " > port 6"
# Where packets of flits have two routes, all cells of a pair take the one of their labels.
for pair in 0,10 2,8; do
    exits 0 "" "$leat" fabric show torus:4,4/cells --vpi --path $pair
    same "the route of $pair" "$(sed -n 's/^route  *[0-9]*: \(.*\) :[0-9]*$/\1/p' "$folder/stdout")" \
        "$(grep '^label path' "$folder/stdout" | grep -o 'router [0-9]*' | cut -d ' ' -f 2 | tr '\n' ' ' | sed 's/ $//')"
done
exits 2 "no routing tables of labels: 1024 ports, expected at most 512" "$leat" fabric show torus:32,32/cells --vpi
exits 2 "no routing tables of labels: routers choose a wire for each cell" "$leat" fabric show mesh:4,4/cells/vcs=2/routing=adaptive --vpi
exits 0 "" "$leat" fabric show bmx:20 --json
same "a large switch" "$(jq -c '[.switching, .table_depth, .ports, .routing_tables["3"]["20"].select]' "$folder/stdout")" '["vc",null,20,"fffff"]'

# ---- the files that come with leat: each is sound, runs, and has its row ---------------------------
share=$(dirname "$0")/../../share/fabrics
for file in "$share"/*.yaml "$share"/*.edges; do
    exits 0 "" "$leat" fabric check "$file"
    exits 0 "" "$leat" sim "$file" --load 0.05 --cycles 1000
    grep -qF "\`${file##*/}\`" "$share/README.md" || fail "$file: no row in $share/README.md"
done
for topology in $("$leat" fabric list --json | jq -r 'select(.kind == "flits" and (.parameter | not)).name | select(test("^[a-z]+:")) | sub(":.*"; "")'); do
    [ "$topology" = tinsel ] || grep -q "^topology: $topology" "$share"/*.yaml || fail "no file has the topology $topology"
done

# ---- bad input ----------------------------------------------------------------------------------
exits 2 "'', expected one of list show check draw time" "$leat" fabric
exits 2 "'chekc', did you mean check? expected one of list show check draw time" "$leat" fabric chekc
exits 0 "" "$leat" fabric time --help
has "help of a subverb" "$(cat "$folder/stdout")" "leat fabric time: measure how long one message takes"
has "its options of some kinds" "$(cat "$folder/stdout")" "--model MODEL"
exits 2 "expected one fabric" "$leat" fabric show
exits 2 "expected one fabric" "$leat" fabric show clos444 clos444
exits 2 "unknown fabric 'taurus', expected one of clos444, clos:E,M,R, bmx:K, line:N, " "$leat" fabric show taurus
exits 2 ", tinsel:X,Y, ringN, etherN, twosan, threesan, FILE.yaml or FILE.edges (see leat fabric list)" "$leat" fabric show taurus
exits 2 "e is 0, expected 1 to 64" "$leat" fabric show clos:0,4,4
exits 2 "k is 1, expected 2 to 64" "$leat" fabric show bmx:1
exits 2 "'4294967298' is no size, expected 2 to 64" "$leat" fabric show bmx:4294967298
exits 2 "'99999999999' is no size, expected 1 to 64" "$leat" fabric show clos:4,99999999999,4
exits 2 "expected K: one number, 2 to 64" "$leat" fabric show bmx:99999999999999999999
exits 2 "unknown fabric '/tmp', expected one of clos444" "$leat" fabric check /tmp
exits 2 "'buffer' is given twice, expected it once" "$leat" fabric check clos444/buffer=2/buffer=3
exits 2 "unknown option --vip, did you mean --vpi? expected one of --vpi --path" "$leat" fabric show clos444 --vip
exits 2 "'99999999999' is no table depth, expected 256 to 4096" "$leat" fabric show clos444/table=99999999999
for option in --to=1 --model=rtl --bytes=4; do
    exits 2 "${option%=*} does not go with show, expected one of --vpi --path --multicast --from --json" "$leat" fabric show clos444 $option
done
exits 2 "--vpi does not go with list, expected one of --json" "$leat" fabric list --vpi
exits 2 "a routing table needs 266240 VPIs, their range has 4096" "$leat" fabric show clos:64,64,64/switching=vp
exits 2 "k is 17, expected 1 to 16, the fan-out of VP switching" "$leat" fabric show bmx:17/switching=vp
exits 2 "'4,4' is no size, expected E,M,R" "$leat" fabric show clos:4,4
exits 2 "table depth is 100, expected 256 to 4096" "$leat" fabric show clos444/table=100
exits 2 "unknown parameter '/depth=3', expected one of /buffer=CELLS" "$leat" fabric show clos444/depth=3
exits 2 "'0' is no buffer, expected 1 to 64 cells" "$leat" fabric show clos444/buffer=0
exits 2 "'fast' is no clock, expected 0.001 to 1000000" "$leat" fabric show clos444/clock=fast
exits 2 "--path '5', expected SRC,DST or SRC,all" "$leat" fabric show clos444 --path 5
exits 2 "port '16', expected 0 to 15" "$leat" fabric show clos444 --path 16,0
exits 2 "port '16', expected 0 to 15" "$leat" fabric show clos444 --path 0,16
exits 2 "port '', expected 0 to 15" "$leat" fabric show clos444 --path ,
exits 2 "port 'x', expected 0 to 15" "$leat" fabric show clos444 --path 1,x
if [ -c /dev/full ]; then
    got=0; "$leat" fabric show clos444 --json > /dev/full 2> "$folder/stderr" || got=$?
    same "fabric show to a full disk" $got 1
fi
# The program alone, without the files of these networks.
cp "$leat" "$folder/leat"
exits 2 'twosan.yaml: not there; twosan needs the files that come with leat' "$folder/leat" fabric check twosan

finish
