#!/bin/sh
# A live ring of eight hosts, as network namespaces that are created and removed here: answers by one
# packet, messages from station to station, every invalid frame dropped and counted by its reason,
# stations that are killed and restarted. Both drivers, with and without a key.
# usage: ring_live_test.sh LEAT
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"

N=8
stations="0 1 2 3 4 5 6 7"
tear_down() {
    for i in $stations; do
        [ ! -e "/run/netns/$name$i" ] || in_ns "$i" "$leat" ring stop --dev in 2>/dev/null || true
    done
    delete_hosts
}
# shellcheck disable=SC2086 # words
hosts "the live ring is" $stations
mac_in() { printf '02:00:00:00:00:%02x' "$1"; }
mac_out() { printf '02:00:00:00:01:%02x' "$1"; }
before() { echo $((($1 + N - 1) % N)); }
after() { echo $((($1 + 1) % N)); }

# station I's out is one end of a cable, its successor's in the other
for i in $stations; do
    ip link add out netns "$name$i" type veth peer name in netns "$name$(after "$i")" ||
        skip "this kernel has no veth"
done
for i in $stations; do
    ip -n "$name$i" link set in address "$(mac_in "$i")" up
    ip -n "$name$i" link set out address "$(mac_out "$i")" up
done

# An end that polls is sent to by native XDP; plain_live_test.sh has those that do not.
for i in $stations; do polling="$polling $name$i:in"; done
# shellcheck disable=SC2086 # words
python3 "$here/../../test/veth.py" gro on $polling

# join I OPTION...: station I+1
join() {
    i=$1
    shift
    in_ns "$i" "$leat" ring join --dev in --out out --address $((i + 1)) \
        --previous "$(mac_out "$(before "$i")")" --next "$(mac_in "$(after "$i")")" "$@"
}
ask() { in_ns 0 "$leat" ring "$@" --timeout 60s --json 2>"$folder/stderr" || fail "leat ring $*: $(cat "$folder/stderr")"; }
count() { in_ns "$1" "$leat" ring status --json | jq -r ".counts[\"$2\"]"; }

of_all() { for s in $stations; do in_ns "$s" "$leat" ring status --json; done | jq -s "map(.counts[\"$1\"]) | add"; }
passed_on() { in_ns "$1" "$leat" ring status --json | jq -c '.counts | [.folded, .copied, .repeated]'; }
counts() { in_ns "$1" "$leat" ring status --json | jq -c '.counts | del(.folded, .own, .repeated)'; }

# forge CHANGE,... WANT [KEYED]: three frames to station 2 with each of these changes go no further,
# and the reasons that they are counted by are a JSON object
forge() {
    was=$(counts 1) passed=$(passed_on 2)
    in_ns 0 python3 "$here/ring_live.py" out "$(mac_in 1)" "$(mac_out 0)" "$1" 3 ${3:+keyed}
    comes_to "$driver: $1 are counted" "$2" counted_since
    same "$driver: $1 go no further" "$(passed_on 2)" "$passed"
}

counted_since() { counts 1 | jq -c --argjson was "$was" 'with_entries(.value -= $was[.key] | select(.value != 0))'; }

# The loads of the stations, the least at station 6, and what follows from them.
set -- 40 31 22 90 31 7 31 65
loads="$*"
answers() {
    i=0
    for load in $loads; do
        in_ns $i "$leat" ring set 1 "$load"
        in_ns $i "$leat" ring set 3 $((i % 3 ? 12 : 5))
        i=$((i + 1))
    done
    same "$driver: get" "$(in_ns 3 "$leat" ring get 1)" 90
    folded=$(count 1 folded)
    same "$driver: min" "$(ask query min --register 1 | jq -c '[.counter,.variable1,.variable2]')" "[8,7,6]"
    same "$driver: by one packet" "$(count 1 folded)" $((folded + 1))
    same "$driver: max" "$(ask query max --register 1 | jq -c '[.counter,.variable1,.variable2]')" "[8,90,4]"
    same "$driver: add" "$(ask query add --register 1 | jq .variable1)" 317
    same "$driver: and" "$(ask query and --register 3 | jq .variable1)" 4
    same "$driver: or" "$(ask query or --register 3 | jq .variable1)" 13
    same "$driver: eq" "$(ask query eq --register 1 --value 31 --width 64 | jq .variable2)" 3
    same "$driver: lt" "$(ask query lt --register 1 --width 16 | jq .variable2)" 2
    same "$driver: le" "$(ask query le --register 1 | jq .variable2)" 3
    same "$driver: one station and the sender" "$(ask query max --register 1 --to 8 | jq -c '[.counter,.variable1]')" "[2,65]"
    same "$driver: least-loaded" "$(in_ns 4 "$leat" ring least-loaded 2>/dev/null)" "station 6, load 0.07"
    # Group 3: stations 2, 4 and 8; the sender, station 1, in or out.
    for s in 1 3 7; do in_ns "$s" "$leat" ring set groups 0,3,31; done
    same "$driver: a group and the sender" "$(ask query add --register 1 --group 3 | jq -c '[.stations,.counter,.variable1]')" "[8,4,226]"
    same "$driver: a group" "$(ask query min --register 1 --group 3 --sender out | jq -c '[.counter,.variable1,.variable2]')" "[3,31,2]"
    same "$driver: a group, sorted" "$(ask sort --live --register 1 --group 3 --sender out | jq -c .values)" "[31,65,90]"
    same "$driver: one station alone" "$(ask query max --register 1 --to 8 --sender out | jq -c '[.counter,.variable1]')" "[1,65]"
    same "$driver: a group of none" "$(ask query or --register 1 --group 4 --sender out | jq -c '[.counter,.variable1]')" "[0,0]"
    exits 1 "expected at least 4" in_ns 0 "$leat" ring query add --group 3 --sender out --quorum 4
    same "$driver: groups" "$(in_ns 3 "$leat" ring status --json | jq -c .groups)" "[0,3,31]"
    in_ns 3 "$leat" ring set groups none
    same "$driver: left the groups" "$(ask query add --register 1 --group 3 --sender out | jq -c '[.counter,.variable1]')" "[2,96]"
    # lt of pairs, sums of two of those: (40 < 31) + (22 < 90), (31 < 7) + (31 < 65)
    for s in $stations; do in_ns "$s" "$leat" ring set tree lt,add,le; done
    same "$driver: relations in a tree" "$(ask tree --live --register 1 | jq .value)" 1
    for s in $stations; do in_ns "$s" "$leat" ring set tree max,add,min; done
    for width in 16 32 64; do
        same "$driver: sort $width" "$(ask sort --live --register 1 --width $width | jq -c .values)" "[7,22,31,31,31,40,65,90]"
        same "$driver: majority $width" "$(ask majority --live --register 3 --width $width | jq -c '[.majority,.votes]')" "[12,5]"
        same "$driver: no majority $width" "$(ask majority --live --register 1 --width $width | jq .majority)" null
        # max of pairs, sums of two of those, the lesser half: min(40+90, 31+65)
        same "$driver: tree $width" "$(ask tree --live --register 1 --width $width | jq .value)" 96
    done
    same "$driver: average" "$(ask average --live --register 1 | jq -c '[.counter,.average,.remainder]')" "[8,39,5]"
    same "$driver: gvt" "$(ask gvt --live --register 1 | jq .gvt)" 7
    same "$driver: elect" "$(ask elect --live --register 1 | jq -c '[.identity,.station]')" "[90,4]"
    { ask query min --register 1; ask elect --live --register 1; in_ns 0 "$leat" ring status --json; in_ns 0 "$leat" ring get --json; } |
        described "$driver: objects"
    # One vocabulary: what a live ring tells has the names that a simulated one has, but for times.
    names() { jq -c 'keys - ["took_ns","bit_times","bit_times_expected","host_based_bit_times","certificate"]'; }
    for word in sort majority tree average gvt elect work least-loaded; do
        same "$driver: names of $word" "$(ask $word --live --register 1 | names)" "$("$leat" ring $word --stations 8 --json | names)"
    done
    in_ns 3 "$leat" ring receive > /dev/null # the request for work
    same "$driver: names of query" "$(ask query min | names)" "$("$leat" ring sim --stations 8 --command min --json | names)"
    in_ns 2 "$leat" ring set 1 0
    exits 1 "register 1 of station 3 is 0, which is no load" in_ns 4 "$leat" ring least-loaded
    in_ns 2 "$leat" ring set 1 22
    in_ns 5 "$leat" ring set enabled off
    exits 1 "7 of the 8 stations of this ring took part, expected 8" in_ns 0 "$leat" ring query min --register 1
    exits 1 "7 of the 8 stations of this ring took part, expected 8" in_ns 0 "$leat" ring sort --live --register 1
    exits 1 "station 6 did not take part" in_ns 0 "$leat" ring query min --register 1 --to 6
    exits 1 "station 99 did not take part" in_ns 0 "$leat" ring query min --register 1 --to 99
    same "$driver: without station 6" "$(ask query min --register 1 --quorum 7 | jq -c '[.stations,.counter,.variable1,.variable2]')" "[8,7,22,3]"
    same "$driver: a disabled station asks" "$(in_ns 5 "$leat" ring query min --register 1 --json | jq -c '[.stations,.counter]')" "[8,7]"
    in_ns 5 "$leat" ring set enabled on
}

barrier() {
    for s in $stations; do in_ns "$s" "$leat" ring set 7 0; done
    exits 1 "not all of 8 stations" in_ns 0 "$leat" ring barrier --live --register 7 --timeout 3s
    for s in $stations; do in_ns "$s" "$leat" ring barrier --live --register 7 --timeout 60s > "$folder/barrier.$s" & done
    wait
    same "$driver: a barrier" "$(cat "$folder"/barrier.* | sort -u)" "all 8 stations are here"
}

# Passive packets: to one, to all, to nobody; with a receiver that waits; of any octets.
messages() {
    same "$driver: send" "$(in_ns 0 "$leat" ring send 4 'any work?' 2>/dev/null)" "station 4 has it"
    same "$driver: receive" "$(in_ns 3 "$leat" ring receive)" "station 1: any work?"
    exits 1 "no message within 20 ms" in_ns 3 "$leat" ring receive --timeout 20ms
    same "$driver: send to all" "$(ask send all 'a\b' | jq -c '[.to,.bytes,.recognised,.copied]')" "[65535,3,true,true]"
    for s in 1 2 3 4 5 6 7; do
        same "$driver: station $((s + 1)) of all" "$(in_ns "$s" "$leat" ring receive)" 'station 1: a\\b'
    done
    exits 1 "no message" in_ns 0 "$leat" ring receive --timeout 20ms
    exits 1 "no station 99 on this ring" in_ns 0 "$leat" ring send 99 hello
    same "$driver: to nobody" "$(in_ns 0 "$leat" ring send 99 x --json 2>/dev/null | jq -c '[.recognised,.copied]')" "[false,false]"
    in_ns 5 "$leat" ring receive --count 2 --timeout 60s > "$folder/waits" &
    waiter=$!
    head -c 1474 /dev/urandom > "$folder/octets"
    in_ns 1 "$leat" ring send 6 '' > /dev/null 2>&1
    in_ns 2 "$leat" ring send 6 --file "$folder/octets" > /dev/null 2>&1
    wait $waiter || fail "$driver: a receiver that waits ends with $?"
    same "$driver: who waits is woken" "$(cut -c 1-10 "$folder/waits")" "station 2:
station 3:"
    in_ns 6 "$leat" ring send 6 --file - < "$folder/octets" > /dev/null 2>&1
    join 5 --driver "$driver" > /dev/null
    same "$driver: any octets, kept by a station that joins again" "$(in_ns 5 "$leat" ring receive --json | jq -r .octets)" "$(od -An -v -tx1 "$folder/octets" | tr -d ' \n')"
    same "$driver: work" "$(ask work --live --register 1 | jq -c '[.priority,.station,.requested]')" "[90,4,1]"
    same "$driver: the request for work" "$(in_ns 3 "$leat" ring receive --json)" '{"schema":"leat.ring.receive/1","from":1,"bytes":2,"octets":"0001","status":"done"}'
    same "$driver: work here" "$(in_ns 3 "$leat" ring work --live --register 1 --json | jq .requested)" null
}

# 46 records of 8 + 4 + 1400 octets, in whole words, are within 64 KiB. What has no room is refused.
full() {
    full=$(count 1 mailbox-full) copied=$(count 1 copied)
    head -c 1400 /dev/zero > "$folder/octets"
    in_ns 0 python3 "$here/ring_live.py" out "$(mac_in 1)" "$(mac_out 0)" message 50
    comes_to "$driver: a mailbox is full" "46 4" mail_since
    exits 1 "station 2 has no room in its mailbox" in_ns 0 "$leat" ring send 2 --file "$folder/octets"
    same "$driver: A, not C" "$(in_ns 0 "$leat" ring send 2 --file "$folder/octets" --json 2>/dev/null | jq -c '[.recognised,.copied]')" "[true,false]"
    same "$driver: to all, one of them full" "$(ask send all --file "$folder/octets" | jq -c '[.recognised,.copied]')" "[true,true]"
    for s in 2 3 4 5 6 7; do in_ns "$s" "$leat" ring receive > /dev/null || fail "$driver: station $((s + 1)) has room"; done
    for half in 1 2; do in_ns 1 "$leat" ring receive --count 23 --json > "$folder/half.$half" & done
    wait
    same "$driver: all is there, for two receivers" "$(cat "$folder"/half.* | jq -c '[.from,.bytes]' | sort | uniq -c | tr -s ' ')" " 46 [77,1400]"
    exits 1 "no message" in_ns 1 "$leat" ring receive --timeout 20ms
    same "$driver: room again" "$(in_ns 0 "$leat" ring send 2 --file "$folder/octets" 2>/dev/null)" "station 2 has it"
    in_ns 1 "$leat" ring receive > /dev/null || fail "$driver: the message for which there is room again"
}

mail_since() { echo "$(($(count 1 copied) - copied)) $(($(count 1 mailbox-full) - full))"; }

# Each of two stations of one address takes the other's packets for its own.
twins() {
    join 4 --driver "$driver" --address 1 > /dev/null
    exits 1 "no answer within 50 ms, expected a ring whose stations all joined" in_ns 4 "$leat" ring query min --timeout 50ms
    exits 1 "another station has this address, or lies about it" in_ns 0 "$leat" ring query min --timeout 3s
    has "$driver: the reason" "$(in_ns 0 "$leat" ring status)" "not sent by us, from our address: another station has it"
    join 4 --driver "$driver" > /dev/null
    same "$driver: no twins any more" "$(ask query min --register 1 | jq .counter)" 8
}

# Every way in which a frame can be bad.
bad_frames() {
    forge crc,foreign,stranger,elsewhere,hops,short,stub,opcode,width,zeros,token,counter,flg,reserved \
        '{"short":6,"elsewhere":3,"stranger":3,"foreign":3,"malformed":21,"crc":3,"hops":3}' "${1:-}"
    forge message-long,message-crc,message-flg,message-opcode,message-hops '{"short":3,"malformed":6,"crc":3,"hops":3}' "${1:-}"
    sum=${1:+mac} # looked for where the octets are, the MAC first
    forge message-short "{\"${sum:-crc}\":3}" "${1:-}"
    # The sender of this one is nobody: it goes round until its hops are used up, then no more.
    was=$(of_all hops) round=$(of_all folded)
    in_ns 0 python3 "$here/ring_live.py" out "$(mac_in 1)" "$(mac_out 0)" good 1 ${1:+keyed}
    comes_to "$driver: a packet without a sender ends" "1 255" hops_since
}
hops_since() { echo "$(($(of_all hops) - was)) $(($(of_all folded) - round))"; }

# A neighbour that says it is us.
liar() {
    was=$(count 0 unasked)
    in_ns 7 python3 "$here/ring_live.py" out "$(mac_in 0)" "$(mac_out 7)" own 2
    comes_to "$driver: a packet with our address that we did not send" $((was + 2)) count 0 unasked
}

flood() {
    for s in $stations; do join "$s" --driver "$driver" --rate 100 > /dev/null; done
    was=$(count 1 rate) passed=$(count 1 folded)
    in_ns 0 python3 "$here/ring_live.py" out "$(mac_in 1)" "$(mac_out 0)" good 2000
    sleep 0.3
    # (A socket's queue may drop some before the station sees them.)
    dropped=$(($(count 1 rate) - was)) passed=$(($(count 1 folded) - passed))
    [ "$dropped" -gt 500 ] || fail "$driver: a flood of 2000 at 100 a second: only $dropped dropped"
    [ "$passed" -lt 300 ] || fail "$driver: a flood of 2000 at 100 a second: $passed passed"
    same "$driver: others are not kept out by it" "$(ask query min --register 1 | jq .variable1)" 7
    for s in $stations; do join "$s" --driver "$driver" > /dev/null; done
}

# One captured message, 50 times: it comes in once and fills nothing, and a station that joins again
# still knows it. Others of its sender come in.
replay() {
    copied=$(count 1 copied) replayed=$(count 1 replayed)
    send_serial() { in_ns 0 python3 "$here/ring_live.py" out "$(mac_in 1)" "$(mac_out 0)" "message-$1" "$2" keyed; }
    send_serial 1000 50
    comes_to "$driver: a message that is replayed" "1 49" replays_since
    join 1 --driver "$driver" --key-file "$folder/key" > /dev/null
    [ "$driver" = packet ] || copied=-1 replayed=-49 # counts begin anew
    send_serial 1000 3
    comes_to "$driver: replayed to a station that joined again" "1 52" replays_since
    send_serial 1001,message-1003,message-1002 1
    comes_to "$driver: others of the same sender" "4 52" replays_since
    same "$driver: in the mailbox" "$(in_ns 1 "$leat" ring receive --count 4 --json | jq -c '[.from,.bytes]' | sort -u)" "[77,1400]"
    exits 1 "no message" in_ns 1 "$leat" ring receive --timeout 20ms
}
replays_since() { echo "$(($(count 1 copied) - copied)) $(($(count 1 replayed) - replayed))"; }

key() {
    head -c 1474 /dev/zero > "$folder/long"
    put_key "$folder/key" '00010203 04050607 08090a0b 0c0d0e0f'
    for s in $stations; do join "$s" --driver "$driver" --key-file "$folder/key" > /dev/null; done
    same "$driver: keyed" "$(ask query min --register 1 | jq -c '[.counter,.variable1]')" "[8,7]"
    exits 2 "a message of 1474 octets, expected at most 1458" in_ns 0 "$leat" ring send 4 --file "$folder/long"
    same "$driver: keyed, sent" "$(ask send 4 work? | jq .copied) $(in_ns 3 "$leat" ring receive)" "true station 1: work?"
    same "$driver: keyed, sorted" "$(ask sort --live --register 1 | jq -c .values)" "[7,22,31,31,31,40,65,90]"
    forge mac,message-mac '{"mac":6}' keyed
    bad_frames keyed
    replay
    forge good,message-flg '{"mac":6}' # none at all
    put_key "$folder/other" 11111111111111111111111111111111
    join 4 --driver "$driver" --key-file "$folder/other" > /dev/null
    exits 1 "no answer within 200 ms" in_ns 0 "$leat" ring query min --register 1 --timeout 200ms
    same "$driver: a station with another key drops" "$([ "$(count 4 mac)" -gt 0 ] && echo yes)" yes
    for s in $stations; do join "$s" --driver "$driver" > /dev/null; done
    same "$driver: without a key again" "$(ask query min --register 1 | jq .variable1)" 7
}

gone_and_back() {
    in_ns 3 "$leat" ring stop || fail "$driver: stop without --dev"
    exits 2 "no station" in_ns 3 "$leat" ring status --dev in
    exits 2 "in: no station here" in_ns 3 "$leat" ring stop --dev in
    exits 2 "no station on this host" in_ns 3 "$leat" ring stop
    exits 1 "no answer within 100 ms" in_ns 0 "$leat" ring query min --timeout 100ms
    join 3 --driver "$driver" > /dev/null
    in_ns 3 "$leat" ring set 1 90
    same "$driver: back again" "$(ask query max --register 1 | jq -c '[.counter,.variable1]')" "[8,90]"
}

bad_input() {
    exits 2 "no network device 'nosuch'" "$leat" ring join --dev nosuch --address 1 --next 02:00:00:00:00:01 --previous 02:00:00:00:00:01
    exits 2 "--address '65535', expected a whole number, 0 to 65534" join 0 --address 65535
    exits 2 "--next '1:2', expected an Ethernet address" in_ns 0 "$leat" ring join --dev in --address 1 --next 1:2 --previous 02:00:00:00:00:01
    exits 2 "expected a station's" in_ns 0 "$leat" ring join --dev in --address 1 --next ff:ff:ff:ff:ff:ff --previous 02:00:00:00:00:01
    exits 2 "--driver 'token', expected one of xdp packet" join 0 --driver token
    put_key "$folder/short-key" 12345
    exits 2 "expected 32 hex digits" join 0 --key-file "$folder/short-key"
    exits 2 "query 'mean', expected one of add and or" in_ns 0 "$leat" ring query mean
    exits 2 "expected one of 16 32 64" in_ns 0 "$leat" ring query min --width 24
    exits 2 "--register '64', expected a whole number, 0 to 63" in_ns 0 "$leat" ring query min --register 64
    exits 2 "register '64', expected 0 to 63" in_ns 0 "$leat" ring set 64 1
    exits 2 "value 'x', expected 0 to 2^64-1" in_ns 0 "$leat" ring set 1 x
    exits 2 "expected on or off" in_ns 0 "$leat" ring set enabled maybe
    exits 2 "expected 1 to 17 of add" in_ns 0 "$leat" ring set tree add,mul
    exits 2 "expected numbers of 0 to 31, or none" in_ns 0 "$leat" ring set groups 3,32
    exits 2 "--value goes with query eq" in_ns 0 "$leat" ring query min --value 3
    exits 2 "0 to 65535" in_ns 0 "$leat" ring query eq --value 65536 --width 16
    exits 2 "send to '65535', expected a station's address, 0 to 65534, or all" in_ns 0 "$leat" ring send 65535 x
    exits 2 "address 1 is this station's own" in_ns 0 "$leat" ring send 1 x
    exits 2 "expected send A TEXT or send A --file FILE" in_ns 0 "$leat" ring send 4
    exits 2 "expected send A TEXT or send A --file FILE" in_ns 0 "$leat" ring send 4 x --file y
    exits 2 "/no/such/file: No such file" in_ns 0 "$leat" ring send 4 --file /no/such/file
    head -c 1475 /dev/zero > "$folder/long"
    exits 2 "longer than 1474 octets, expected what one frame holds" in_ns 0 "$leat" ring send 4 --file "$folder/long"
    exits 2 "--count '0', expected a whole number" in_ns 0 "$leat" ring receive --count 0
}

# A revolution as tshark sees it at the sender: the packet that leaves and the one that comes back,
# every field named, and nothing that it calls malformed.
captured() {
    command -v tshark > /dev/null || { echo "SKIPPED, AND LOUDLY: no tshark, no captured revolution"; return; }
    : > "$folder/tshark"
    in_ns 0 timeout "$run_limit" tshark -q -c 2 -f 'ether proto 0x88b6' -i out -i in -w "$folder/ring.pcapng" 2> "$folder/tshark" &
    watcher=$!
    wait_until grep -q 'Capture started' "$folder/tshark" || fail "$driver: no capture: $(cat "$folder/tshark")"
    sleep 0.5
    ask query min --register 1 > /dev/null
    wait $watcher || true
    read_capture() { tshark -X lua_script:share/wireshark/leat.lua -r "$folder/ring.pcapng" -Y leat_aton "$@" 2> /dev/null; }
    seen=$(read_capture -T fields -E separator=/s -e leat_aton.opcode -e leat_aton.register -e leat_aton.sa -e leat_aton.counter -e leat_aton.variable1 -e leat_aton.variable2)
    # (Two devices are listened at, one after the other: the order is that of Counter.)
    same "$driver: captured, first and last" "$(echo "$seen" | sort -n -k 4 | sed -n '1p;$p')" "5 1 0x0001 1 40 1
5 1 0x0001 8 7 6"
    fields="ring_id sequence hops_left ring_flags ring_zero ac priority token monitor reservation ctl active opcode width register zero da sa counter variable1 variable2 flags flags.a flags.c crc"
    # shellcheck disable=SC2046 # words
    read_capture -T fields -E separator=/t $(printf -- '-e leat_aton.%s ' $fields) | head -n 1 | tr '\t' '\n' > "$folder/captured"
    same "$driver: captured, has every field" "$(grep -c . "$folder/captured")" "$(echo "$fields" | wc -w)"
    same "$driver: captured, sound" "$(read_capture -Y '_ws.malformed or _ws.expert')" ""
}

# A ring of one: no wire, the same answers.
alone() {
    ip netns add "${name}8"
    stations="$stations 8"
    ip -n "${name}8" link add in type veth peer name out
    ip -n "${name}8" link set in address "$(mac_in 8)" up
    in_ns 8 "$leat" ring join --dev in --address 9 --previous "$(mac_in 8)" --next "$(mac_in 8)" --driver "$driver" > /dev/null
    in_ns 8 "$leat" ring set 2 17
    exits 1 "no other station on this ring" in_ns 8 "$leat" ring send all hello
    ip -n "${name}8" link set out address "$(mac_out 8)" up
    in_ns 8 "$leat" ring join --dev out --address 10 --previous "$(mac_out 8)" --next "$(mac_out 8)" --driver "$driver" > /dev/null
    exits 2 "this host has 2 stations, expected --dev with one of their devices" in_ns 8 "$leat" ring stop
    exits 0 "leat ring leave is called leat ring stop now" in_ns 8 "$leat" ring leave --dev out
    same "$driver: a ring of one" "$(in_ns 8 "$leat" ring query max --register 2 2>/dev/null)" "max 17 at station 9"
    in_ns 8 "$leat" ring stop || fail "$driver: stop of the station that is left"
    ip netns del "${name}8"
    stations=${stations% 8}
}

has_no_station() { ! in_ns 2 "$leat" ring status --dev in; }
killed() {
    in_ns 2 "$leat" ring set 1 22
    if [ "$driver" = packet ]; then
        kill -9 "$(sed -n 's/.*by process \([0-9]*\).*/\1/p' "$folder/joined.2")"
        wait_until has_no_station || fail "$driver: a killed station is still there" # a process that is killed may take a moment to end
        exits 2 "its registers are kept" in_ns 2 "$leat" ring status --dev in
        exits 1 "no answer" in_ns 0 "$leat" ring query min --timeout 100ms
    else
        # A start that is killed has put its program on the device or not: the ring works on.
        for wait in 0 0.002 0.004 0.008 0.016 0.03; do
            join 2 --driver xdp > /dev/null 2>&1 &
            sleep $wait
            kill -9 $! 2>/dev/null || true
            wait $! 2>/dev/null || true
        done
        same "$driver: after killed starts" "$(ask query min --register 1 | jq -c '[.counter,.variable1]')" "[8,7]"
    fi
    join 2 --driver "$driver" > "$folder/joined.2"
    has "$driver: after kill -9" "$(cat "$folder/joined.2")" "took over the registers of an earlier station"
    same "$driver: its register is there" "$(in_ns 2 "$leat" ring get 1)" 22
    same "$driver: and the ring answers" "$(ask query min --register 1 | jq -c '[.counter,.variable1]')" "[8,7]"
}

# A station's file that another user has put there, or that is no file, is not believed.
strange() {
    strange=/dev/shm/leat-ring.$(mark_of 0).$(ip -n "${name}0" -json link show in | jq '.[0].ifindex')
    : > "$strange"
    chown 65534 "$strange"
    exits 1 "is of another user" join 0 --driver packet
    exits 2 "is of another user" in_ns 0 "$leat" ring status --dev in
    exits 1 "is of another user" in_ns 0 "$leat" ring stop --dev in
    rm "$strange"
    for make in mkdir "ln -s /dev/null" mkfifo; do
        $make "$strange"
        exits 1 "$strange is in the way, expected a file of leat or nothing there: remove it" join 0 --driver packet
        exits 2 "$strange is in the way" in_ns 0 "$leat" ring status --dev in
        exits 1 "$strange is in the way" in_ns 0 "$leat" ring stop --dev in
        rm -r "$strange"
    done
}

tried=
for driver in ${LEAT_DRIVERS:-xdp packet}; do
    if ! join 0 --driver $driver > "$folder/joined.0" 2> "$folder/stderr"; then
        no_driver join
        continue
    fi
    tried="$tried $driver"
    has "the driver is told" "$(cat "$folder/joined.0")" "driver $driver: it was asked for"
    [ $driver != xdp ] || has "it is native" "$(cat "$folder/joined.0")" "native mode"
    for i in 1 2 3 4 5 6 7; do join $i --driver $driver > "$folder/joined.$i"; done
    answers
    captured
    barrier
    messages
    full
    bad_frames
    twins
    liar
    killed
    gone_and_back
    flood
    key
    alone
    bad_input
    for i in $stations; do in_ns "$i" "$leat" ring stop --dev in; done
    [ $driver != packet ] || strange
    same "$driver: nothing is left" "$(ip -n "${name}0" link show in | grep xdp; find /dev/shm -name "leat-ring.$(stat -Lc %i "/run/netns/${name}0").*")" ""
done
[ -n "$tried" ] || [ -s "$wrongs" ] || skip "no driver works here"
# Without a wish: the kernel's where it can be, and why is told.
case $tried in *xdp*) has "by itself" "$(join 0)" "driver xdp: the kernel takes it, in the driver (native mode)" ;; esac
finish
