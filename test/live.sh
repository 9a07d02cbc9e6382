# shellcheck shell=sh
# Shared by the tests of live networks, after lib.sh: creates and removes hosts as network namespaces.
name=leat$$- # prefix of its namespaces

# hosts UNTESTED HOST...: creates them, or skips the test: "live ESP is" not tested
hosts() {
    untested=$1
    shift
    [ "$(id -u)" -eq 0 ] || skip "it needs root"
    for tool in ip nsenter jq python3; do command -v $tool > /dev/null || skip "$tool is not installed"; done
    for host; do ip netns add "$name$host" 2> /dev/null || skip "this system has no network namespaces for us"; done
}
skip() { echo "SKIPPED, AND LOUDLY: $untested not tested: $1"; exit 77; }
delete_hosts() {
    for host in /run/netns/"$name"*; do
        [ ! -e "$host" ] || ip netns del "${host##*/}" || true
    done
}
tear_down() { delete_hosts; }

# in_ns HOST COMMAND...: runs it there. Background processes are started without this function, so that $! is theirs.
in_ns() {
    ns=$1
    shift
    nsenter --net="/run/netns/$name$ns" "$@"
}
# described WHAT: the JSON objects on standard input are as their schemas say
described() {
    python3 "$(dirname "$0")/../../share/schema/check.py" > "$folder/said" 2>&1 || fail "$1: $(head -n 3 "$folder/said")"
}
# mark_of HOST: the part after the prefix in the names of its files in /dev/shm (live_home.h)
mark_of() {
    in_ns "$1" python3 -c 'import os, socket
try: cookie = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).getsockopt(socket.SOL_SOCKET, 71, 8)
except OSError: cookie = bytes(8)
import sys
print("%d.%d" % (os.stat("/proc/self/ns/net").st_ino, int.from_bytes(cookie, sys.byteorder)))'
}
net_of() { echo "--net=/run/netns/$name$1"; }
mac() { ip -n "$name$1" -json link show dev "$2" | jq -r '.[0].address'; }

polling= # ends of links, for veth.py
# link ABOVE BELOW LINK: link n is 10.1.n.0/24 and fd00:0:0:n::/64, by devices dn at .1 above and up at .2 below
link() {
    ip link add "d$3" netns "$name$1" type veth peer name up netns "$name$2" || skip "this kernel has no veth"
    join_ends "$@"
}
# join_ends ABOVE BELOW LINK: the addresses, and the default route of BELOW
join_ends() {
    printf 'addr add 10.1.%s.1/24 dev d%s\naddr add fd00:0:0:%s::1/64 dev d%s nodad\nlink set dev d%s up\n' "$3" "$3" "$3" "$3" "$3" | ip -n "$name$1" -batch -
    printf 'addr add 10.1.%s.2/24 dev up\naddr add fd00:0:0:%s::2/64 dev up nodad\nlink set dev up up\nroute add default via 10.1.%s.1\n' "$3" "$3" "$3" | ip -n "$name$2" -batch -
    ip -n "$name$2" -6 route add default via "fd00:0:0:$3::1"
    polling="$polling $name$1:d$3 $name$2:up"
}

# no_driver COMMAND: it has not started, for the reason in $folder/stderr. Skips a driver that this system lacks;
# fails if the kernel refuses our program.
no_driver() {
    case $(cat "$folder/stderr") in
    *"built without XDP"* | *"not permitted"* | *"not implemented"*) ;;
    *) fail "$1 --driver $driver: $(cat "$folder/stderr")" ;;
    esac
    echo "SKIPPED, AND LOUDLY: driver $driver is not tested: $(cat "$folder/stderr")"
}
