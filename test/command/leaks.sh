#!/bin/sh
# The command gives all its memory back, on every path that takes some. Only a build with
# LeakSanitizer can tell; elsewhere these are plain runs. (The other tests of the command switch it
# off: on some machines it takes seconds per process.)
set -u
leat=$1
. "$(dirname "$0")/lib.sh"
good=$("$leat" encode esp opcode=COUNT)
printf '%s\n00\nxyz\n' "$good" > "$folder/mixed.hex"
printf '{"format":"esp","fields":{"opcode":"COUNT"}}\n{"format":"esp","fields":{"nosuch":1}}\n' > "$folder/mixed.json"
printf '{"format":"aal5","fields":{"payload":"%0400d"}}\n' 0 > "$folder/aal5.json"
exits 0 "" "$leat" encode --json "$folder/aal5.json" --pcapng "$folder/cells.pcapng"
head -c 600 "$folder/cells.pcapng" > "$folder/cut.pcapng"
exits 2 "octet" "$leat" decode --format esp --json "$folder/mixed.hex"
exits 2 "no such field" "$leat" encode --json "$folder/mixed.json" --raw
exits 0 "" "$leat" decode "$folder/cells.pcapng"
exits 0 "" "$leat" decode --format aal5 --json "$folder/cells.pcapng"
exits 2 "damaged capture" "$leat" decode --format aal5 "$folder/cut.pcapng"
exits 2 "expected FIELD=VALUE" "$leat" encode esp opcode
share=$(dirname "$0")/../../share/fabrics
printf '0 0 1\n5 1 0 3\n' > "$folder/some.trace"
exits 0 "" "$leat" sim "$share/campus.yaml" --cycles 200 --fault link:0-1 --fault port:3 --json
exits 0 "" "$leat" sim "$share/campus.edges" --cycles 200 --trace "$folder/some.trace"
exits 2 "circle" "$leat" sim ring:6/vcs=1
exits 0 "" "$leat" fabric draw mesh:3,3 -o "$folder/mesh.svg"
exits 0 "" "$leat" sweep line:3 --load 0.1 --seeds 1 --cycles 200 --links --store "$folder/runs.sqlite"
exits 0 "" "$leat" report "$folder/runs.sqlite" -o "$folder/page.html" --csv "$folder/runs.csv"
exits 0 "" "$leat" esp sim --graph "$share/campus.edges" --service tree --dot "$folder/tree.dot" --multicast
exits 2 "an attempt takes" "$leat" esp sim --tree 2,2 --service sum --tau 1ms
poets=$(dirname "$0")/../../share/poets
export XDG_CACHE_HOME="${LEAT_HANDLERS:-$folder/cache}"
printf '<Graphs><GraphType id="g"><DeviceTypes><Device/></DeviceTypes></GraphType><GraphInstance id="i" graphTypeId="h"/></Graphs>' > "$folder/bad.xml"
exits 2 "E_ELEM" "$leat" graph check "$folder/bad.xml"
exits 0 "" "$leat" graph info "$poets/clock_tree.xml" --json
exits 0 "" "$leat" graph run "$poets/ring.xml" --schedule fifo
exits 0 "" "$leat" graph run "$poets/heat_plate.xml" -j 2
exits 0 "" "$leat" graph run "$poets/heat_plate.xml" --engine fabric:tinsel
exits 2 "expected a port" "$leat" graph run "$poets/heat_plate.xml" --engine fabric:tinsel --mailbox host=16
finish
