#!/bin/sh
# usage: deb.sh [FOLDER]   the packages of `make deb` in a bare Debian, made by debootstrap in a temporary folder (root).
# Installs them, uses each one as an ordinary user would, runs the units under its systemd, and removes them again.
set -eu
packages=$(readlink -f "${1:-build/deb}")
[ "$(id -u)" -eq 0 ] || { echo "expected root: debootstrap and chroot need it" >&2; exit 2; }
. "$(dirname "$0")/../setup/packages.sh"
need_packages debootstrap lintian util-linux procps
root=$(mktemp -d)
booted=
chmod 755 "$root" # guests may enter it
# shellcheck disable=SC2317 # by the trap
clean() {
    [ -z "$booted" ] || kill -KILL "$booted" 2> /dev/null || true
    umount "$root/proc" 2> /dev/null || true
    umount -R "$root/dev" 2> /dev/null || true
    rm -rf --one-file-system "$root"
}
trap clean EXIT INT TERM

echo "== lintian"
wrongs=0
# Not of symbols for debuggers, which have no overrides.
# shellcheck disable=SC2046
lintian --fail-on error,warning $(find "$packages" -name '*.deb' ! -name '*-dbgsym_*') 2> /dev/null || {
    echo "FAILED lintian"
    wrongs=$((wrongs + 1))
}

# The release and the mirror of this machine.
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" "Component: main" | head -n 1)
echo "== a bare $PRETTY_NAME"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" > "$root.log" 2>&1 || { tail -5 "$root.log"; exit 1; }
rm "$root.log"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
mkdir "$root/srv/packages"
cp "$packages"/*.deb "$root/srv/packages"
rm -f "$root"/srv/packages/*-dbgsym_*
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/home/guest "$@"; }
guest() { inside runuser -u guest -- sh -euc "cd /home/guest; $1"; }
# works WHAT COMMAND: as an ordinary user; its output is shown where it fails.
works() {
    if said=$(guest "$2" 2>&1); then echo "ok $1"; else
        echo "FAILED $1: $said"
        wrongs=$((wrongs + 1))
    fi
}
inside useradd -m guest
echo "== installing"
inside sh -ec 'apt-get update -qq; apt-get install -qq -y --no-install-recommends /srv/packages/leat_*.deb /srv/packages/libleat1_*.deb' > "$root/log" 2>&1 || {
    tail "$root/log"
    exit 1
}
works 'the command' 'leat --version; leat sim clos444 --cycles 20000; leat fabric show torus:4,4 > /dev/null'
works 'a circle through a file' 'leat encode esp opcode=COUNT compValTag=1 thresh=3 --pcapng count.pcapng; leat decode count.pcapng | grep -q COUNT'
works "the thesis' programs" 'leat experiment echo --bytes 4,100'
works 'what is not there is told' 'leat run --fabric torus:2,2 -n 2 --library mpi -- /bin/true 2>&1 | grep -q libleat-fi.so'
inside sh -ec 'apt-get install -qq -y --no-install-recommends /srv/packages/*.deb systemd iproute2 jq gcc libc6-dev pkg-config man-db tshark netpipe-openmpi python3-pandas' > "$root/log" 2>&1 || {
    tail "$root/log"
    exit 1
}
works 'dissectors of tshark' 'tshark -r count.pcapng | grep -q ESP'
works 'pages of the manual' 'for page in leat leat-sim leat-run; do man -w $page > /dev/null; done; man -w 3 leat_err_name > /dev/null'
works 'MPI programs' 'OMPI_ALLOW_RUN_AS_ROOT=0 leat run --fabric torus:2,2 -n 2 -- NPopenmpi -u 64 -n 5'
works 'MPI ranks' 'mpirun --oversubscribe -n 2 leat sim torus:6,6 --cycles 1000'
works 'Python' 'python3 -c "import leat; print(leat.sim(\"mesh:4,4\", load=0.1, cycles=2000))"'
works 'a program with the library' 'printf "#include <leat/err.h>\n#include <stdio.h>\nint main(void) { puts(leat_err_name(LEAT_ERR_OK)); }\n" > a.c
    gcc a.c -o a $(pkg-config --cflags --libs leat); ./a'

# ---- units, under the systemd of the bare Debian, in namespaces of its own

boot() {
    # shellcheck disable=SC2016
    unshare --kill-child --fork --pid --mount --uts --ipc --net --cgroup sh -ec '
        mount --make-rprivate /
        mount --rbind "$1" "$1" # systemd wants a mount for its root
        mount -t proc proc "$1/proc"
        mount -t sysfs sysfs "$1/sys"
        if grep -q "^cgroup2 /sys/fs/cgroup " /proc/mounts; then
            mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
        else
            mount -t tmpfs -o mode=755 tmpfs "$1/sys/fs/cgroup"
            mkdir "$1/sys/fs/cgroup/systemd"
            mount -t cgroup -o none,name=systemd cgroup "$1/sys/fs/cgroup/systemd"
        fi
        mount -t tmpfs -o mode=755 tmpfs "$1/run"
        mkdir "$1/run/dev"
        mount -t tmpfs -o mode=755 tmpfs "$1/run/dev"
        for node in null zero full random urandom tty; do
            : > "$1/run/dev/$node"
            mount --bind "/dev/$node" "$1/run/dev/$node"
        done
        mkdir "$1/run/dev/shm" "$1/run/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$1/run/dev/shm"
        mount --rbind "$1/run/dev" "$1/dev"
        exec chroot "$1" env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
    ' boot "$root" > "$root/boot.log" 2>&1 < /dev/null &
    booted=$!
    wait_for "systemd" is_up
}
machine() {
    nsenter --target "$(pgrep -P "$booted")" --all --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}
is_up() { machine systemctl is-system-running | grep -qE '^(running|degraded)'; }
wait_for() {
    waits_for=$1
    shift
    for _ in $(seq 300); do
        "$@" > /dev/null 2>&1 && return
        sleep 0.2
    done
    echo "FAILED $waits_for"
    wrongs=$((wrongs + 1))
}
# serves WHAT WANT COMMAND...: in the machine; what it prints
serves() {
    what=$1 want=$2
    shift 2
    said=$(machine "$@" 2>&1) || true
    if [ "$said" = "$want" ]; then echo "ok $what"; else
        echo "FAILED $what: got '$said', want '$want'"
        wrongs=$((wrongs + 1))
    fi
}
active() { printf 'active\n%.0s' $(seq "$1") | sed '$!b; s/$//'; }
echo "== services"
if machine_refused=$(unshare --fork --pid --mount --uts --ipc --net --cgroup true 2>&1); then
    mkdir -m 755 "$root/etc/leat"
    for n in 1 2; do
        printf 'address: %s\nnext: 02:00:00:00:00:0%s\nprevious: 02:00:00:00:00:0%s\ndriver: packet\n' $n $((3 - n)) $((3 - n)) > "$root/etc/leat/ring-x$n.yaml"
    done
    printf 'driver: udp\nlisten: 127.0.0.1:4274\nnext-hop:\n  - 127.0.0.1:4275\nnode-id: 0x77\n' > "$root/etc/leat/esp-core.yaml"
    printf 'san:\n  - udp:127.0.0.1:4276,bias=0x100,address=0x102\n  - udp:127.0.0.1:4277,bias=0x200,address=0x202\n' > "$root/etc/leat/pktway-gate.yaml"
    all="leat-ring@x1 leat-ring@x2 leat-esp@core leat-pktway@gate"
    boot
    machine ip link add x1 address 02:00:00:00:00:01 type veth peer name x2 address 02:00:00:00:00:02
    for device in x1 x2 lo; do machine ip link set $device up; done
    # shellcheck disable=SC2086
    {
        serves 'units are enabled and start' '' systemctl --quiet enable --now $all
        serves 'units are active' "$(active 4)" systemctl is-active $all
    }
    serves 'a ring of two' 2 sh -c 'leat ring query max --register 1 --dev x1 --json | jq .stations'
    serves 'a register' '' leat ring set 5 77 --dev x1
    serves 'stations are confined' 'confined: yes, keeps no capability, root /dev/shm' sh -c "leat ring status --dev x1 | grep confined | sed 's| /.*/dev/shm| /dev/shm|'"
    echo 'rate: 50k' >> "$root/etc/leat/ring-x1.yaml"
    # shellcheck disable=SC2086
    serves 'units reload' '' systemctl reload $all
    serves 'what the file says then' 50000 sh -c 'leat ring status --dev x1 --json | jq .rate_per_second'
    machine systemctl kill -s KILL leat-esp@core
    wait_for 'a router that is killed' sh -c '! machine systemctl is-active leat-esp@core'
    restarted() { [ "$(machine systemctl show -P NRestarts leat-esp@core)" = 1 ] && machine systemctl is-active leat-esp@core; }
    wait_for 'a router starts again' restarted
    before=$(machine leat esp status --name core --json | jq .process)
    # postinst has the reload; the same version is an upgrade, too
    serves 'an upgrade' 0 sh -c 'dpkg -i /srv/packages/leat_*.deb /srv/packages/leat-live_*.deb > /tmp/upgrade 2>&1 && ! grep -i fail /tmp/upgrade; echo $?'
    # shellcheck disable=SC2086
    serves 'units after an upgrade' "$(active 4)" systemctl is-active $all
    serves 'a register after it' 77 sh -c "leat ring get 5 --dev x1 --json | jq '.registers[\"5\"] // .value'"
    [ "$(machine leat esp status --name core --json | jq .process)" != "$before" ] || {
        echo "FAILED an upgrade: the router is that of before"
        wrongs=$((wrongs + 1))
    }
    [ $wrongs -eq 0 ] || machine journalctl --no-pager -u 'leat-*' -n 40 || true
    kill -KILL "$booted"
    wait "$booted" 2> /dev/null || true
    boot
    serves 'after a reboot' "$(active 2)" systemctl is-active leat-esp@core leat-pktway@gate
    remove() { machine "$@"; }
else
    echo "skipped services: $machine_refused"
    remove() { inside "$@"; }
fi
echo "== removing"
remove apt-get purge -qq -y leat libleat1 libleat-dev leat-live leat-mpi leat-pvm leat-doc python3-leat > "$root/log" 2>&1 || tail "$root/log"
if [ -n "$booted" ]; then
    serves 'nothing is served any more' '' sh -c 'ls /dev/shm | grep leat; grep -ls "^leat" /proc/[0-9]*/comm'
    kill -KILL "$booted"
    booted=
fi
rm -rf "$root/etc/leat"
left=$(find "$root/usr" "$root/etc" "$root/var" "$root/run" -name '*leat*' ! -path '*/apt/*' ! -name '*.list')
[ -z "$left" ] || { echo "FAILED left behind: $left"; wrongs=$((wrongs + 1)); }
echo "$wrongs failures"
[ "$wrongs" -eq 0 ]
