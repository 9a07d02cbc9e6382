#!/bin/sh
# The command frees all its memory, on every path that allocates some, as valgrind shows:
# LeakSanitizer takes seconds per process on some machines, so the sanitizers' build has it off.
set -u
. "$(dirname "$0")/../../test/lib.sh"
needs valgrind
leat=$1
# whole CODE REASON WORD...: ends like that (lib.sh, exits), and has lost nothing
whole() {
    code=$1 reason=$2
    shift 2
    exits "$code" "$reason" valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect --error-exitcode=99 "$leat" "$@"
}
good=$("$leat" encode esp opcode=COUNT)
printf '%s\n00\nxyz\n' "$good" > "$folder/mixed.hex"
printf '{"format":"esp","fields":{"opcode":"COUNT"}}\n{"format":"esp","fields":{"nosuch":1}}\n' > "$folder/mixed.json"
printf '{"format":"aal5","fields":{"payload":"%0400d"}}\n' 0 > "$folder/aal5.json"
whole 0 "" encode --from-json "$folder/aal5.json" --pcapng "$folder/cells.pcapng"
head -c 600 "$folder/cells.pcapng" > "$folder/cut.pcapng"
whole 2 "octet" decode --format esp --json "$folder/mixed.hex"
whole 2 "no such field" encode --from-json "$folder/mixed.json" --raw
whole 0 "" decode "$folder/cells.pcapng"
whole 0 "" decode --format aal5 --json "$folder/cells.pcapng"
whole 2 "damaged capture" decode --format aal5 "$folder/cut.pcapng"
whole 2 "expected FIELD=VALUE" encode esp opcode
share=$(dirname "$0")/../../share/fabrics
printf '0 0 1\n5 1 0 3\n' > "$folder/some.trace"
whole 0 "" sim "$share/campus.yaml" --cycles 200 --fault link:0-1 --fault port:3 --json
whole 0 "" sim "$share/campus.edges" --cycles 200 --trace "$folder/some.trace"
whole 0 "" sim clos444 --cycles 3000 --calls "$share/../contracts/day.calls" --json
whole 2 "in a cycle" sim ring:6/vcs=1
whole 0 "" fabric draw mesh:3,3 -o "$folder/mesh.svg"
whole 0 "" sweep line:3 --load 0.1 --seeds 1 --cycles 200 --links --store "$folder/runs.sqlite"
whole 0 "" report "$folder/runs.sqlite" -o "$folder/page.html" --csv "$folder/runs.csv"
whole 0 "" esp sim --graph "$share/campus.edges" --service tree --dot "$folder/tree.dot" --multicast
whole 2 "an attempt takes" esp sim --tree 2,2 --service sum --tau 1ms
poets=$(dirname "$0")/../../share/poets
printf '<Graphs><GraphType id="g"><DeviceTypes><Device/></DeviceTypes></GraphType><GraphInstance id="i" graphTypeId="h"/></Graphs>' > "$folder/bad.xml"
whole 2 "E_ELEM" graph check "$folder/bad.xml"
whole 0 "" graph info "$poets/clock_tree.xml" --json
whole 0 "" graph run "$poets/ring.xml" --schedule fifo
whole 0 "" graph run "$poets/heat_plate.xml" -j 2
whole 0 "" graph run "$poets/heat_plate.xml" --fabric tinsel
whole 2 "expected a port" graph run "$poets/heat_plate.xml" --fabric tinsel --mailbox host=16
finish
