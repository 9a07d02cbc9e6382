#!/bin/sh
# The tour of ./demo: one packet of each format, into a capture, out again, and printed.
set -eu
leat=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

# A packet of each format, from a few interesting fields; the rest have defaults.
packets="
atm vpi=1 vci=33 pt=0 payload=6c656174
aal1 sc=3 payload=01
aal2 sn=1 payload=0102
aal34 st=SSM mid=5 cpcs.payload=4142434445464748
aal5 uu=7 payload=68656c6c6f
atmllc type=IPv4 payload=450000140000000040fd65eb0a0000010a000002
atmarp source.ip=10.0.0.1 target.ip=10.0.0.2
atmtask vpi=9 sequence=1 source=1 destination=5
aton opcode=MIN width=32 register=1 sa=1 variable1=17 variable2=1
esp opcode=COUNT computationId=7 compValTag=1 thresh=3 flags=X
packetway dt=0x201 sa=0x101 pt=PVM data=0102030405
packetway dt=0x7ffffe sa=0 pt=RRP te=WRU?
poets class=DEV task=3 device=513 pin=2 edge=259 payload=070000000000c03f
"

step "1. Encode: one packet of each format (leat encode FORMAT FIELD=VALUE...)"
echo "$packets" | while read -r format fields; do
    [ -n "$format" ] || continue
    # shellcheck disable=SC2086
    octets=$("$leat" encode "$format" $fields)
    printf '%-10s %.60s%s\n' "$format" "$octets" "$([ ${#octets} -gt 60 ] && echo ...)"
    # shellcheck disable=SC2086
    "$leat" encode "$format" $fields | "$leat" decode --format "$format" --json >> "$folder/packets.json"
done

step "2. A capture of all of them (leat encode --from-json packets.json --pcapng tour.pcapng)"
"$leat" encode --from-json "$folder/packets.json" --pcapng "$folder/tour.pcapng"
echo "tour.pcapng: $(wc -c < "$folder/tour.pcapng") octets"

step "3. Decode it again (leat decode tour.pcapng); adaptation layers travel in ATM cells"
"$leat" decode "$folder/tour.pcapng"

step "4. The same packet as JSON, for machines (leat decode --json), and back to the same octets"
"$leat" decode --format esp --json "$folder/tour.pcapng" 2>/dev/null | tee "$folder/esp.json"
"$leat" encode --from-json "$folder/esp.json"

step "5. A network under load (leat sim clos444 --traffic uniform --load 0.2): the thesis' prototype"
"$leat" sim clos444 --traffic uniform --load 0.2 --cycles 200000 --seed 7

step "6. The same run register by register has the same certificate (--model rtl)"
"$leat" sim clos444 --traffic uniform --load 0.2 --cycles 200000 --seed 7 --model rtl | grep certificate

step "7. Other networks, compared (leat sweep mesh:4,4 torus:4,4 ...; leat report makes a page of it)"
"$leat" sweep mesh:4,4 torus:4,4 --load 0.1:0.7:0.2 --seeds 2 --cycles 2000 --store "$folder/runs.sqlite" 2>/dev/null

if command -v mpicc > /dev/null && "$leat" doctor --need mpi > /dev/null 2>&1; then
    step "8. A real MPI program over two of them, unmodified (leat run --fabric clos444 -n 16 --contention -- ./rounds)"
    mpicc -o "$folder/rounds" share/programs/rounds.c
    for fabric in clos444 torus:4,4; do
        echo "$fabric"
        "$leat" run --fabric $fabric -n 16 --contention -- "$folder/rounds" 2> "$folder/report"
        grep -E 'simulated|contention' "$folder/report"
    done
fi
if command -v hello.pvm > /dev/null; then
    step "9. And a PVM program, which spawns others (leat run --fabric clos444 -- master1)"
    "$leat" run --fabric clos444 -- master1 2> "$folder/report" | tail -n 3
    grep simulated "$folder/report"
fi
