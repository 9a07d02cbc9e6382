#!/bin/sh
# leat doctor: what it says of this host against other programs (ip, nproc, uname), in network
# namespaces that are created and removed here: veths with and without XDP programs, a bound port,
# no rights. It changes nothing.
set -u
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
children=
tear_down() {
    for pid in $children; do kill "$pid" 2> /dev/null; done
    delete_hosts
}

# finding NAME FILTER: of the report in $folder/stdout
finding() { jq -c --arg name "$1" "select(.name == \$name) | $2" "$folder/stdout"; }
state() { finding "$1" .state | tr -d '"'; }

# ---- what is refused, and what anybody gets

exits 2 "'now', expected no operand" "$leat" doctor now
exits 2 "--need 'fish', expected" "$leat" doctor --need fish
exits 0 "" "$leat" doctor
cp "$folder/stdout" "$folder/text"
exits 0 "" "$leat" doctor --json
described "this host" < "$folder/stdout"
# Without devices, which may come and go meanwhile.
same "names in text and JSON" "$(sed -n 's/^\(ok\|hint\|missing\) *\([^:]*\): .*/\2/p' "$folder/text" | grep -v '^device ')" \
    "$(jq -r 'select(.device == null) | .name' "$folder/stdout")"
same "advice exactly where something is not well" "$(jq -c 'select((.state == "ok") != (.advice == null))' "$folder/stdout")" ""
has "kernel" "$(finding kernel .found)" "$(uname -sr) on $(uname -m)"
has "processors" "$(finding processors .found)" "$(getconf _NPROCESSORS_ONLN)"

# ---- programs: as they say it themselves

mkdir "$folder/bin" "$folder/none"
exits 1 "this host lacks what mpi needs: mpirun" env PATH="$folder/none" "$(command -v "$leat")" doctor --need mpi
# put_mpirun LINE...: a mpirun that does this
put_mpirun() { printf '#!/bin/sh\n%s\n' "$1" > "$folder/bin/mpirun" && chmod 755 "$folder/bin/mpirun"; }
put_mpirun 'echo "mpirun (Open MPI) 9.8.7"'
exits 0 "" env PATH="$folder/bin:$PATH" "$leat" doctor --json
same "Open MPI" "$(finding mpirun .found)" "\"$folder/bin/mpirun, mpirun (Open MPI) 9.8.7\""
same "Open MPI is there" "$(state mpirun)" ok
for other in 'echo "HYDRA build details"' 'exit 1' 'exec sleep 100'; do
    put_mpirun "$other"
    exits 1 "mpirun" env PATH="$folder/bin:$PATH" "$leat" doctor --need mpi
done
exits 1 "this host lacks what gpu needs: OpenCL" env OCL_ICD_VENDORS="$folder/none" POCL_DEVICES= "$leat" doctor --need gpu

# ---- a jail, and a system that refuses it

if unshare -Ur true 2> /dev/null; then
    exits 0 "" "$leat" doctor --need jail
    exits 1 "this host lacks what jail needs: jail" unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$1" doctor --need jail' - "$leat"
    has "what to do" "$(cat "$folder/stdout")" "sysctl user.max_user_namespaces=10000"
fi

# ---- devices

hosts "leat doctor in namespaces is" a b none
ip link add e0 netns "${name}a" type veth peer name e1 netns "${name}b" || skip "this kernel has no veth"
ip -n "${name}b" link set e1 up
exits 1 "this host lacks what ring needs: Ethernet devices;" in_ns a "$leat" doctor --need ring
same "it says how" "$(grep -c 'ip link set dev e0 up' "$folder/stdout")" 1
ip -n "${name}a" link set e0 up mtu 1400
ip -n "${name}a" addr add 192.0.2.7/29 dev e0
ip -n "${name}a" addr add 2001:db8::7/61 dev e0 nodad

looks() { in_ns a "$leat" doctor --json > "$folder/stdout" 2> "$folder/stderr" || fail "in a namespace: $(cat "$folder/stderr")"; described "a namespace" < "$folder/stdout"; }
veth() { finding "device e0" "$1"; }
# Carriers and link-local addresses come by themselves, later.
all_of() {
    for n in a b none; do
        ip -n "$name$n" -details -json addr | jq -c '.[] | [.ifname, .ifindex, .mtu, .address, .xdp, (.flags | index("UP") != null),
            [.addr_info[]? | select(.scope != "link") | .local]]'
    done
    find /dev/shm -maxdepth 1 -name "*$mark*"
}
ip_says() { ip -n "${name}a" -details -json link show dev e0 | jq -c ".[0] | $1"; }
mark=$(mark_of a)
all_of > "$folder/before"
looks
all_of > "$folder/after"
cmp -s "$folder/before" "$folder/after" || fail "it changes something: $(diff "$folder/before" "$folder/after")"
same "kind, driver, MTU, Ethernet" "$(veth '[.kind, .device_driver, .mtu_bytes, .ethernet, .up]')" '["veth","veth",1400,true,true]'
same "its other end" "$(veth .peer_device_number)" "$(ip_says .link_index)"
has "in another namespace" "$(veth .found)" "of another network namespace"
for address in 192.0.2.7/29 2001:db8::7/61; do
    same "$address" "$(veth .addresses | jq "index(\"$address\") != null")" true
done
exits 0 "" in_ns a "$leat" doctor --need ring
exits 1 "this host lacks what ring needs: Ethernet devices;" in_ns none "$leat" doctor --need ring
ip -n "${name}b" link set e1 down
looks
same "the other end is down" "$(veth '[.up, .state]')" '[false,"hint"]'
ip -n "${name}b" link set e1 up

# Native XDP: the end here sends if the other one polls.
for on in "on" off on; do
    python3 "$here/../../test/veth.py" gro $on "${name}b:e1"
    looks
    [ "$(state 'XDP in this leat')" = ok ] || break
    case $on/$(veth .advice) in
    on/null | off/*"the other end of e0 does not poll"*"ethtool -K DEVICE gro on"*) ;;
    */*"does not report"*) break ;; # before Linux 6.3
    *) fail "GRO $on at the other end: $(veth .advice)" ;;
    esac
done
python3 "$here/../../test/veth.py" gro on "${name}a:e0"
looks
same "GRO here" "$(veth .gro)" true
for on in off on; do
    python3 "$here/../../test/veth.py" checksums $on "${name}a:e0"
    looks
    same "checksums $on" "$(veth .checksum_offload)" "$([ $on = on ] && echo true || echo false)"
done

# ---- programs on devices

same "no program" "$(veth .xdp_program)" null
for mode in generic native; do
    : > "$folder/attached"
    : > "$folder/refused"
    python3 "$here/xdp_pass.py" "/run/netns/${name}a" e0 $mode > "$folder/attached" 2> "$folder/refused" &
    program=$!
    children="$children $program"
    wait_until grep -q . "$folder/attached" "$folder/refused"
    if [ -s "$folder/refused" ]; then
        echo "skipped: no $mode XDP program: $(cat "$folder/refused")"
        continue
    fi
    looks
    same "the $mode program's id, as the kernel says" "$(veth .xdp_program)" "$(cat "$folder/attached")"
    same "the $mode program's id, as ip says" "$(veth .xdp_program)" "$(ip_says .xdp.prog.id)"
    same "mode" "$(veth .xdp_mode)" "\"$mode\""
    if [ "$(state 'XDP in this leat')" = ok ]; then
        has "what to do" "$(veth .advice)" "ip link set dev e0 xdp off"
    fi
    kill $program
    wait $program 2> /dev/null
    looks
    same "no $mode program any more" "$(veth .xdp_program)" null
done
join="ring join --dev e0 --address 1 --next 02:00:00:00:00:02 --previous 02:00:00:00:00:02 --driver xdp"
# shellcheck disable=SC2086 # words
if in_ns a "$leat" $join > /dev/null 2>&1; then
    looks
    has "a station" "$(veth .found)" "XDP program $(ip_says .xdp.prog.id) of leat ring"
    in_ns a "$leat" ring stop
fi

# ---- ports

# shellcheck disable=SC2016
for address in 0.0.0.0 ::1; do
    : > "$folder/bound" # else what the program before said would count for this one
    nsenter "$(net_of a)" python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 4253))
print("bound", flush=True)
time.sleep(1000)' $address > "$folder/bound" 2>&1 &
    binder=$!
    children="$children $binder"
    ip -n "${name}a" link set lo up
    wait_until grep -q . "$folder/bound"
    looks
    same "the port is taken" "$(state 'UDP port 4253')" missing
    has "by whom" "$(finding 'UDP port 4253' .found)" "used by python3, process $binder of user $(id -u)"
    exits 1 "this host lacks what esp needs: UDP port 4253;" in_ns a "$leat" doctor --need esp
    exits 0 "" in_ns a "$leat" doctor --need pktway
    # Others cannot see who it is, so they are not told that it is in the way.
    if in_ns a setpriv --reuid 65534 --regid 65534 --clear-groups "$leat" doctor --json > "$folder/stdout" 2> /dev/null; then
        same "a process that is not visible" "$(state 'UDP port 4253')" hint
        has "what to do about it" "$(finding 'UDP port 4253' .advice)" "only that user and root see whether it is leat"
    fi
    kill $binder
    wait $binder 2> /dev/null
    looks
    same "the port is free" "$(finding 'UDP port 4253' '[.state, .found]')" '["ok","free"]'
    exits 0 "" in_ns a "$leat" doctor --need esp
done

# ---- without rights

# without AS...: as somebody without capabilities
without() {
    exits 0 "" "$@" "$leat" doctor --json
    described "without rights" < "$folder/stdout"
    same "rights" "$(for right in NET_RAW NET_ADMIN BPF PERFMON SYS_ADMIN; do state CAP_$right; done | tr '\n' ' ')" "missing missing hint hint missing "
    same "BPF" "$(state BPF)" hint
    same "the device" "$(veth '[.kind, .mtu_bytes]')" '["veth",1400]'
    exits 1 "this host lacks what ring needs: CAP_NET_RAW;" "$@" "$leat" doctor --need ring
    exits 1 "what atm needs: CAP_NET_ADMIN, CAP_SYS_ADMIN" "$@" "$leat" doctor --need atm
    exits 0 "" "$@" "$leat" doctor --need esp
    exits 0 "" "$@" "$leat" doctor --need pktway
}
looks
same "rights of root" "$(state CAP_NET_RAW)" ok
without in_ns a setpriv --bounding-set=-all --inh-caps=-all
anybody="in_ns a setpriv --reuid 65534 --regid 65534 --clear-groups"
if $anybody "$leat" help > /dev/null 2>&1; then # this build may be root's own
    # shellcheck disable=SC2086
    without $anybody
    # shellcheck disable=SC2086
    exits 0 "" $anybody "$leat" doctor --json
    same "who" "$(finding user .found)" '"65534, not root"'
    same "what nobody may write to" "$(state /run/netns)" missing
else
    echo "skipped: nobody cannot run this build"
fi
finish
