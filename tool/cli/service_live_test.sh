#!/bin/sh
# Live parts as services: --foreground and --config, with a service manager played by a socket that collects what
# they tell it. A station, a router of ESP and one of PacketWay, in network namespaces made and removed here.
set -u
leat=$(readlink -f "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
children=
tear_down() {
    for pid in $children; do kill "$pid" 2> /dev/null; done
    delete_hosts
}

# ---- files of options

# conf TEXT: $folder/conf has these lines
conf() { printf '%b' "$1" > "$folder/conf"; }
# wrong TEXT LINES: leat esp route refuses the file
wrong() { conf "$2"; exits 2 "$1" "$leat" esp route --config "$folder/conf"; }
exits 2 "no_such: No such file" "$leat" esp route --config "$folder/no_such"
wrong "conf:2: the option is in this line" 'tau: 10s\ntua: 5s\n'
wrong "unknown option --tua, did you mean --tau?" 'tua: 5s\n'
wrong "conf:1: the option is in this line" 'capacity: many\n'
wrong 'conf:1: a value of a list, expected a line "name:" before it' '- eth0\n'
wrong 'conf:1: expected "name: value"' 'driver udp\n'
wrong 'conf:2: expected "name: value"' 'driver: udp\n  listen: 127.0.0.1:4299\n'
wrong 'conf:1: expected a value, or a list' 'dev: [eth0, eth1]\n'
wrong 'conf:1: the quotes do not match' "name: 'core\n"
wrong '--tau twice' 'tau: 1s\ntau: 2s\n'
wrong "keyed-only: 'perhaps', expected yes or no" 'keyed-only: perhaps\n'
wrong '--config' 'config: other\n'
wrong '--stations' 'stations: 4\n'
wrong 'too long' "name: $(printf '%2000s' '' | tr ' ' x)\n"
conf 'service: census\n'
exits 2 "--service does not go with route" "$leat" esp route --config "$folder/conf"
conf '--- \n# a comment\ndriver: udp   # another\nname: "from a file"\nlisten: 127.0.0.1:4298\nnext-hop:\n  - 127.0.0.1:4297\n\nkeyed-only: no\n'
exits 0 "" "$leat" esp route --config "$folder/conf" --name "s$$"
has "what the command line says goes first" "$(cat "$folder/stdout")" "driver udp"
exits 0 "" "$leat" esp stop --name "s$$"

# ---- services

hosts "live parts as services are" a b
ip link add e0 netns "${name}a" address 02:00:00:00:00:0a type veth peer name e0 netns "${name}b" address 02:00:00:00:00:0b ||
    skip "this kernel has no veth"
for n in a b; do ip -n "$name$n" link set e0 up; done

cat > "$folder/manager.py" << 'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    for line in s.recv(4096).decode().split("\n"):
        print(line, flush=True)
PY
python3 "$folder/manager.py" "$folder/notify" >> "$folder/told" &
children="$children $!"
wait_until test -S "$folder/notify"
told() { grep -c "$1" "$folder/told"; }
is_told() { [ "$(told "$1")" -ge "$2" ]; }

# serve WORD...: starts a service in namespace a, $service
serve() {
    : > "$folder/told"
    nsenter "$(net_of a)" env NOTIFY_SOCKET="$folder/notify" WATCHDOG_USEC=10000000 "${program:-$leat}" "$@" > "$folder/out" 2> "$folder/error" &
    service=$!
    children="$children $service"
    until is_told READY=1 1; do
        kill -0 "$service" 2> /dev/null || { fail "$*: it has ended: $(cat "$folder/error")"; finish; }
        sleep 0.05
    done
}
# ends CODE WHAT: the service has ended so
ends() {
    wait "$service"
    same "$2" $? "$1"
}

one=000102030405060708090a0b0c0d0e0f
# takes_keys WHAT STATUS...: at SIGHUP the service, which was ready twice, reads its keys, and its part goes on; a bad
# file changes nothing
takes_keys() {
    what=$1
    shift
    process=$("$@" | jq -c '[.process, .why]')
    put_key "$folder/key" "$one 1$one"
    kill -HUP $service
    wait_until is_told READY=1 3 || fail "$what: SIGHUP, bad keys: not ready again: $(cat "$folder/error")"
    has "$what: bad keys" "$(cat "$folder/error")" "$folder/key: no key, expected 32 hex digits"
    put_key "$folder/key" "$one $one"
    kill -HUP $service
    wait_until is_told READY=1 4 || fail "$what: SIGHUP, keys: not ready again: $(cat "$folder/error")"
    same "$what: complaints about good keys" "$(grep -c 'no key' "$folder/error")" 1
    same "$what: the process of the part" "$("$@" | jq -c '[.process, .why]')" "$process"
    same "$what: reloads" "$(told RELOADING=1)" 3
}

for driver in ${LEAT_DRIVERS:-packet xdp}; do
    conf "address: 1\nnext: 02:00:00:00:00:0b\nprevious: 02:00:00:00:00:0b\ndriver: $driver\nkey-file: $folder/key\n"
    put_key "$folder/key" $one
    if [ "$driver" = xdp ] && ! in_ns a "$leat" ring join --dev e0 --config "$folder/conf" > /dev/null 2>&1; then
        echo "skipped: no XDP"
        continue
    fi
    serve ring join --foreground --dev e0 --config "$folder/conf"
    has "$driver: status" "$(grep ^STATUS "$folder/told")" "STATUS=station at e0"
    wait_until is_told WATCHDOG=1 2 || fail "$driver: the watchdog hears nothing"
    in_ns a "$leat" ring set 5 77
    echo "rate: 50k" >> "$folder/conf"
    kill -HUP $service
    wait_until is_told READY=1 2 || fail "$driver: SIGHUP: not ready again: $(cat "$folder/error")"
    same "$driver: one reload" "$(told RELOADING=1)" 1
    same "$driver: what the file of options says" "$(in_ns a "$leat" ring status --json | jq .rate_per_second)" 50000
    takes_keys "$driver" in_ns a "$leat" ring status --json
    same "$driver: registers outlive a reload" "$(in_ns a "$leat" ring get 5 --json | jq '.registers["5"] // .value')" 77
    kill -TERM $service
    ends 0 "$driver: SIGTERM"
    same "$driver: it says that it stops" "$(told STOPPING=1)" 1
    exits 2 "no station" in_ns a "$leat" ring status --dev e0
    serve ring join --foreground --dev e0 --config "$folder/conf"
    in_ns a "$leat" ring stop
    ends 1 "$driver: a station that somebody stops"
    has "$driver: the reason" "$(cat "$folder/error")" "the station has ended"
done

conf "driver: udp\nname: core\nlisten: 127.0.0.1:4298\nnext-hop:\n  - 127.0.0.1:4297\nnode-id: 0x77\nkey-file: $folder/key\n"
put_key "$folder/key" $one
ip -n "${name}a" link set lo up
cp "$leat" "$folder/leat"
program=$folder/leat # of its own, for an upgrade
serve esp route --foreground --config "$folder/conf"
program=
has "ESP: status" "$(grep ^STATUS "$folder/told")" "STATUS=router 0x0000000000000077, driver udp"
# metric FILE LINE: the file has this line
metric() { grep -qxF "$2" "$1" || fail "no metric '$2' in: $(head -c 500 "$1")"; }
in_ns a python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"no ESP", ("127.0.0.1", 4298))'
counted() { in_ns a "$leat" esp status --name core --prometheus="$folder/esp.prom" && grep -q 'reason="short"} 1$' "$folder/esp.prom"; }
wait_until counted || fail "metrics: $(grep short "$folder/esp.prom")"
metric "$folder/esp.prom" 'leat_esp_info{node="0x0000000000000077",driver="udp"} 1'
metric "$folder/esp.prom" '# TYPE leat_esp_counts_total counter'
metric "$folder/esp.prom" 'leat_esp_counts_total{node="0x0000000000000077",reason="short"} 1'
metric "$folder/esp.prom" 'leat_esp_instructions_total{node="0x0000000000000077",instruction="COUNT",reason="pass"} 0'
metric "$folder/esp.prom" 'leat_esp_stores_live{node="0x0000000000000077",store="centre"} 0'
metric "$folder/esp.prom" 'leat_esp_keyed{node="0x0000000000000077"} 1'
same "each metric has one type, before its values" "$(awk '/^#/ { if (seen[$3]++) print; now = $3; next } { split($1, n, "{"); if (n[1] != now) print }' "$folder/esp.prom")" ""
in_ns a "$leat" esp status --name core --prometheus | diff - "$folder/esp.prom" > /dev/null || fail "metrics on standard output are others"
exits 2 "expected one of them" in_ns a "$leat" esp status --name core --prometheus --json
exits 2 "" in_ns a "$leat" esp status --name nobody --prometheus="$folder/nobody.prom"
[ ! -e "$folder/nobody.prom" ] || fail "metrics of nobody"
echo "rate: 50k" >> "$folder/conf"
kill -HUP $service
wait_until is_told READY=1 2 || fail "ESP: SIGHUP: not ready again: $(cat "$folder/error")"
takes_keys ESP in_ns a "$leat" esp status --name core --json
is_another() { [ "$(in_ns a "$leat" esp status --name core --json | jq .process)" != "$process_before" ]; }
process_before=$(in_ns a "$leat" esp status --name core --json | jq .process)
cp "$leat" "$folder/leat.new" && mv "$folder/leat.new" "$folder/leat"
kill -HUP $service
wait_until is_told READY=1 5 || fail "ESP: SIGHUP after an upgrade: not ready again: $(cat "$folder/error")"
is_another || fail "ESP: an upgrade is not taken over: process $process_before"
kill -KILL "$(in_ns a "$leat" esp status --name core --json | jq .process)"
ends 1 "ESP: a process that is killed"
serve esp route --foreground --config "$folder/conf"
kill -INT $service
ends 0 "ESP: SIGINT"
exits 2 "" in_ns a "$leat" esp status --name core

conf "name: gate\nsan:\n  - udp:127.0.0.1:4274,bias=0x100,address=0x102\n  - udp:127.0.0.1:4275,bias=0x200,address=0x202\n"
serve pktway route --foreground --config "$folder/conf"
has "PacketWay: status" "$(grep ^STATUS "$folder/told")" "STATUS=router gate on 2 SANs"
wait_until is_told WATCHDOG=1 2 || fail "PacketWay: the watchdog hears nothing"
in_ns a "$leat" pktway status --name gate --prometheus > "$folder/pktway.prom"
metric "$folder/pktway.prom" 'leat_pktway_sans_up{name="gate",san="udp:127.0.0.1:4274"} 1'
metric "$folder/pktway.prom" 'leat_pktway_sans_reasons_total{name="gate",san="udp:127.0.0.1:4274",reason="SHORT"} 0'
put_key "$folder/key" $one
echo "key-file: $folder/key" >> "$folder/conf"
exits 2 "SAN 1 has no key" in_ns a "$leat" pktway key --name gate --config "$folder/conf"
kill -TERM $service
ends 0 "PacketWay: SIGTERM"
serve pktway route --foreground --config "$folder/conf"
put_key "$folder/key" "$one $one"
exits 0 "" in_ns a "$leat" pktway key --name gate --config "$folder/conf"
kill -TERM $service
ends 0 "PacketWay: SIGTERM, with keys"

# ---- units

if command -v systemd-analyze > /dev/null; then
    for unit in "$here"/../../share/systemd/*.service; do
        sed "s|=leat |=$leat |" "$unit" > "$folder/${unit##*/}"
        systemd-analyze verify --man=no "$folder/${unit##*/}" > "$folder/stdout" 2>&1 || fail "$unit: $(cat "$folder/stdout")"
    done
else
    echo "skipped: no systemd-analyze"
fi
finish
