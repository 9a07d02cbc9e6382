#!/bin/sh
# leat atm ping: cells that come back, and the place where they are lost.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
# ping [FILTER] WORD...: what is of its JSON
ping() {
    filter=$1
    shift
    "$leat" atm ping "$@" --json 2> /dev/null | jq -c "$filter"
}

same "an idle network" "$(ping '[.cells_back, .oam_flow, .round_trip_cycles, has("tests")]' 9)" '[4,"F4",[144,144,144,144],false]'
same "virtual channels" "$(ping '[.oam_flow, .round_trip_cycles[0]]' 9 --fabric clos444/switching=vc)" '["F5",156]'
same "both models under load" "$(ping . 9 --load 0.6 --count 20)" "$(ping . 9 --load 0.6 --count 20 --model rtl)"
same "cells wait" "$(ping '[.cells_back, (.round_trip_cycles | max) > 144]' 9 --load 0.6 --count 20)" '[20,true]'

# ---- every single fault on the ways of the tests is located, by either model
for fault in link:0-4 link:0-7 link:2-5 link:6-8 link:5-10 link:4-10 switch:4 switch:6 port:9; do
    case $fault in link:*) name="wire $(echo "${fault#link:}" | tr - '>')" ;; *) name=$(echo "$fault" | tr : ' ') ;; esac
    same "$fault" "$(ping '.lost_at, .tests_unexplained' 9 --paths --fault $fault | tr '\n' ' ')" "[[\"$name\"]] 0 "
done
same "two at once" "$(ping '.lost_at' 9 --paths --model rtl --fault "link:0-4 switch:6")" '[["switch 6"],["wire 0>4"]]'
same "nothing is broken" "$(ping '[.lost_at, .tests == .tests_answered]' 9 --paths)" '[[],true]'
same "an end that nobody can test" "$(ping '.lost_at' 9 --fault switch:10)" '[["switch 2","switch 10"]]'
same "another topology" "$(ping '.lost_at' 5 --fabric torus:4,4/cells --paths --fault link:4-5)" '[["wire 5>4","port 5"]]'
same "a fault of another time" "$(ping '[.cells_back, .lost_at]' 9 --paths --fault switch:5@1..900)" '[4,[]]'

exits 1 "clos444: 4 of 4 cells to port 9 did not come back" "$leat" atm ping 9 --fault port:9
has "told" "$(cat "$folder/stdout")" "lost at port 9 (8 tests)"
exits 0 "" "$leat" atm ping 9 --fault switch:5 --paths
has "rerouted, but located" "$(cat "$folder/stdout")" "lost at switch 5 (18 tests)"

# ---- captures: requests and answers at both ports
exits 0 "" "$leat" atm ping 9 --count 3 --record "$folder/ping.leatrec"
exits 0 "" "$leat" export "$folder/ping.leatrec" --pcapng "$folder/ping.pcapng"
same "cells in a capture" "$("$leat" decode "$folder/ping.pcapng" --json | grep -c '"vci":4')" 12

interrupted INT "$leat" atm ping 9 --count 1000 --apart 1000000 --load 0.5 --json
same "an interrupt" $got 130
same "what was not sent is not lost" "$(jq '.cells_sent < 1000 and .cells_sent - .cells_back <= 1 and (.round_trip_cycles | length) == .cells_sent' "$folder/stdout")" true

exits 2 "ping: expected one port" "$leat" atm ping
exits 2 "--json and --record name one file" "$leat" atm ping 1 --record "$folder/one" --json="$folder/one"
exits 2 "--record '-', expected a file" "$leat" atm ping 1 --record -
exits 2 "ping: port '16', expected 0 to 15" "$leat" atm ping 16
exits 2 "--from '16', expected a whole number, 0 to 15" "$leat" atm ping 1 --from 16
exits 2 "--fault link:0-8: no wire between" "$leat" atm ping 1 --fault link:0-8
exits 2 "mesh:4,4: a network of switches, expected an ATM fabric" "$leat" atm ping 1 --fabric mesh:4,4
exits 2 "--ports does not go with ping" "$leat" atm ping 1 --ports 0,1
finish
