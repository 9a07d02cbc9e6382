#!/bin/sh
# Parts of live networks that have a key, under floods of all kinds that test/floods.py knows, as fast as they can be
# sent: nothing forged is accepted, the counters say what came, and good traffic has right answers meanwhile. Rates are
# bench_flood.sh's. Network namespaces are made and removed here.
# usage: flood_live_test.sh LEAT
set -u
leat=$(readlink -f "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
started=
patience=${LEAT_PATIENCE:-$patience}
tear_down() {
    for pid in $started; do kill "$pid" 2> /dev/null; done
    delete_hosts
}
hosts "floods are" a r b
ip link add a0 netns "${name}a" mtu 2000 address 02:00:00:00:00:0a type veth peer name r0 netns "${name}r" mtu 2000 address 02:00:00:00:00:01 ||
    skip "this kernel has no veth"
ip link add r1 netns "${name}r" mtu 2000 type veth peer name b0 netns "${name}b" mtu 2000
printf 'addr add 10.1.0.1/24 dev r0\naddr add 10.2.0.1/24 dev r1\nlink set dev r0 up\nlink set dev r1 up\n' | ip -n "${name}r" -batch -
printf 'addr add 10.1.0.2/24 dev a0\nlink set dev a0 up\nroute add default via 10.1.0.1\n' | ip -n "${name}a" -batch -
printf 'addr add 10.2.0.2/24 dev b0\nlink set dev b0 up\nroute add default via 10.2.0.1\n' | ip -n "${name}b" -batch -
in_ns r sysctl -qw net.ipv4.ip_forward=1
python3 "$here/../../test/veth.py" gro on "${name}a:a0" "${name}r:r0" "${name}r:r1" "${name}b:b0"
put_key "$folder/key" 000102030405060708090a0b0c0d0e0f

floods() { python3 "$here/../../test/floods.py" "$@"; }
# attack KIND FRAMES
attack() { nsenter "$(net_of a)" python3 "$here/../../test/floods.py" send a0 "$folder/$1" "$2"; }
# grows COUNTER FROM: the counter, of $part's status, is above that
counter() { in_ns r "$leat" $part status --json | jq "[.. | objects | .[\"$1\"]? // empty | numbers] | add // 0"; }
grows() { [ "$(counter "$1")" -gt "$2" ]; }
# under_all_kinds: each flood alone, then with good traffic. $part, its `counted KIND` and `accepted`, `good`
under_all_kinds() {
    for kind in $(floods kinds "$part"); do
        floods frames "$part" "$kind" 02:00:00:00:00:01 02:00:00:00:00:0a 256 > "$folder/$kind"
        reason=$(counted "$kind")
        was=$(counter "$reason") before=$(accepted)
        attack "$kind" 3000
        wait_until grows "$reason" "$was" || fail "$part, $driver, $kind: '$reason' does not count it"
        same "$part, $driver, $kind: accepted" "$(accepted)" "$before"
        attack "$kind" 20000 &
        flood=$!
        good || fail "$part, $driver, $kind: good traffic: $(cat "$folder/stdout" "$folder/stderr")"
        wait $flood
    done
}

# ---- a ring of a and r: what r folds, and the messages that it takes

part=ring
counted() {
    case $1 in random) echo malformed ;; crc) echo crc ;; mac) echo mac ;; replay) echo replayed ;; oversize) echo long ;; spoofed) echo stranger ;; esac
}
accepted() { in_ns r "$leat" ring status --json | jq -c '[.counts.folded]'; }
good() { wait_until prints_sum; }
prints_sum() { in_ns a "$leat" ring query add --timeout 20s --json > "$folder/stdout" 2> "$folder/stderr" && [ "$(jq -c '[.counter,.variable1]' "$folder/stdout")" = "[2,12]" ]; }
for driver in xdp packet; do
    if ! { in_ns r "$leat" ring join --dev r0 --address 1 --previous 02:00:00:00:00:0a --next 02:00:00:00:00:0a --driver $driver --key-file "$folder/key" &&
        in_ns a "$leat" ring join --dev a0 --address 2 --previous 02:00:00:00:00:01 --next 02:00:00:00:00:01 --driver $driver --key-file "$folder/key"; } > /dev/null 2> "$folder/stderr"; then
        no_driver "leat ring join"
        continue
    fi
    in_ns r "$leat" ring set 0 5
    in_ns a "$leat" ring set 0 7
    under_all_kinds
    # The one that was captured came in once.
    same "ring, $driver: messages" "$(in_ns r "$leat" ring receive --count 2 --timeout 200ms 2> /dev/null | grep -c again)" 1
    for n in a r; do in_ns $n "$leat" ring stop; done
done

# ---- an ESP router for keyed computations only, between a root and a member

part=esp
counted() {
    case $1 in random) echo opcode ;; crc) echo crc ;; bare | spoofed) echo unkeyed ;; mac) echo refused ;; replay) echo asked ;;
    oversize) if [ $driver = xdp ]; then echo length; else echo failed; fi ;; # a socket's frames are cut off
    esac
}
accepted() { in_ns r "$leat" esp status --json | jq -c '[.counts.executed, .counts.stopped, ([.stores[]?.live] | add)]'; }
good() { wait_until counts_one; }
counts_one() { in_ns a "$leat" esp census flooded --members 1 --wait 10s --key-file "$folder/key" --json > "$folder/stdout" 2> "$folder/stderr" && [ "$(jq .answer "$folder/stdout")" = 1 ]; }
for driver in xdp packet; do
    if ! in_ns r "$leat" esp route --dev r0 --dev r1 --tau 3600s --driver $driver --keyed-only --key-file "$folder/key" > /dev/null 2> "$folder/stderr"; then
        no_driver "leat esp route"
        continue
    fi
    nsenter "$(net_of b)" "$leat" esp join flooded --root 10.1.0.2 --every 100ms --key-file "$folder/key" > "$folder/member" 2>&1 &
    member=$!
    started="$started $member"
    good || fail "ESP, $driver: $(cat "$folder/stderr")"
    under_all_kinds
    kill $member
    in_ns r "$leat" esp stop
done

# ---- a PacketWay router between two hosts: its tables stay as they are

part=pktway
counted() {
    case $1 in random) echo dropped ;; bare | spoofed) echo bare ;; mac) echo forged ;; replay) echo replayed ;; oversize) echo cut ;; esac
}
accepted() { in_ns r "$leat" pktway tables --json | jq -c '[.. | objects | .address? // empty] | sort'; }
good() { wait_until reaches; }
reaches() { in_ns a "$leat" pktway ping 0x201 --name left --timeout 5s > "$folder/stdout" 2> "$folder/stderr"; }
for driver in xdp packet; do
    if ! in_ns r "$leat" pktway route --poll 250ms --driver $driver --san r0,bias=0x100,address=0x102 --san r1,bias=0x200,address=0x202 --key-file "$folder/key" > /dev/null 2> "$folder/stderr"; then
        no_driver "leat pktway route"
        continue
    fi
    in_ns a "$leat" pktway host --poll 250ms --name left --san a0,bias=0x100,address=0x101 --key-file "$folder/key" > /dev/null
    in_ns b "$leat" pktway host --poll 250ms --name right --san b0,bias=0x200,address=0x201 --key-file "$folder/key" > /dev/null
    good || fail "PacketWay, $driver: $(cat "$folder/stderr")"
    under_all_kinds
    in_ns a "$leat" pktway stop --name left
    in_ns b "$leat" pktway stop --name right
    in_ns r "$leat" pktway stop
done
finish
