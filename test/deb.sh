#!/bin/sh
# usage: deb.sh [FOLDER]   the packages of `make deb` in a bare Debian, made by debootstrap in a temporary folder (root).
# Installs them, uses each one as an ordinary user would, and removes them again.
set -eu
packages=$(readlink -f "${1:-build/deb}")
[ "$(id -u)" -eq 0 ] || { echo "expected root: debootstrap and chroot need it" >&2; exit 2; }
. "$(dirname "$0")/../setup/packages.sh"
need_packages debootstrap
root=$(mktemp -d)
chmod 755 "$root" # guests may enter it
# shellcheck disable=SC2317 # by the trap
clean() {
    umount "$root/proc" 2> /dev/null || true
    umount -R "$root/dev" 2> /dev/null || true
    rm -rf --one-file-system "$root"
}
trap clean EXIT INT TERM

# The release and the mirror of this machine.
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" "Component: main" | head -n 1)
echo "== a bare $PRETTY_NAME"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" > "$root.log" 2>&1 || { tail -5 "$root.log"; exit 1; }
rm "$root.log"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
cp "$packages"/*.deb "$root/tmp"
rm "$root"/tmp/*-dbgsym_*
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/home/guest "$@"; }
guest() { inside runuser -u guest -- sh -euc "cd /home/guest; $1"; }
wrongs=0
# works WHAT COMMAND: as an ordinary user; its output is shown where it fails.
works() {
    if said=$(guest "$2" 2>&1); then echo "ok $1"; else
        echo "FAILED $1: $said"
        wrongs=$((wrongs + 1))
    fi
}
inside useradd -m guest
echo "== installing"
inside sh -ec 'apt-get update -qq; apt-get install -qq -y --no-install-recommends /tmp/leat_*.deb /tmp/libleat1_*.deb' > "$root/log" 2>&1 || {
    tail "$root/log"
    exit 1
}
works 'the command' 'leat --version; leat sim clos444 --cycles 20000; leat fabric show torus:4,4 > /dev/null'
works 'a circle through a file' 'leat encode esp opcode=COUNT compValTag=1 thresh=3 --pcapng count.pcapng; leat decode count.pcapng | grep -q COUNT'
works "the thesis' programs" 'leat experiment echo --bytes 4,100'
works 'what is not there is told' '! leat run --fabric torus:2,2 -n 2 -- /bin/true'
inside sh -ec 'apt-get install -qq -y --no-install-recommends /tmp/*.deb gcc libc6-dev pkg-config man-db tshark netpipe-openmpi python3-pandas' > "$root/log" 2>&1 || {
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
echo "== removing"
inside apt-get purge -qq -y leat libleat1 libleat-dev leat-live leat-mpi leat-pvm leat-doc python3-leat > "$root/log" 2>&1 || tail "$root/log"
left=$(find "$root/usr" "$root/etc" "$root/var" "$root/run" -name '*leat*' ! -path '*/apt/*' ! -name '*.list')
[ -z "$left" ] || { echo "FAILED left behind: $left"; wrongs=$((wrongs + 1)); }
echo "$wrongs failures"
[ "$wrongs" -eq 0 ]
