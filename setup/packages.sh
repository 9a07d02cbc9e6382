# shellcheck disable=SC2034
# Sourced by ./demo and ./check: installs packages that are missing, or says which. Names are those of
# Debian.
#   need_packages NAME...

# ubuntu and the like with apt; fedora
os_release=${LEAT_OS_RELEASE:-/etc/os-release} # a test has its own
system=$(sed -n 's/^ID=//p' "$os_release" 2>/dev/null | tr -d '"')
release=$(sed -n 's/^VERSION_ID=//p' "$os_release" 2>/dev/null | tr -d '"')

# The names on this system. Debian has no pvm since 13. Ubuntu had bpftool among the tools of its kernels, until
# 25.10. Fedora's are from its index of packages, which has no pvm; nobody has tried Ubuntu's and Fedora's there.
names_here() {
    for package in "$@"; do
        case $system:$release:$package in
        ubuntu:2[0-4].*:bpftool | ubuntu:25.04:bpftool) echo linux-tools-common linux-tools-generic ;;
        fedora:*:libc6-dev) echo glibc-devel ;;
        fedora:*:g++) echo gcc-c++ ;;
        fedora:*:libsqlite3-dev) echo sqlite-devel ;;
        fedora:*:libopenmpi-dev) echo openmpi-devel ;;
        fedora:*:openmpi-bin) echo openmpi ;;
        fedora:*:libotf2-trace-dev) echo otf2-devel ;;
        fedora:*:libexpat1-dev) echo expat-devel ;;
        debian:1[3-9]:*pvm* | fedora:*:*pvm*) ;;
        fedora:*:*-dev) echo "${package%-dev}-devel" ;;
        *) echo "$package" ;;
        esac
    done
}

is_installed() {
    case $system in
    fedora) rpm -q "$1" >/dev/null 2>&1 ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
    esac
}

need_packages() {
    missing=
    for package in $(names_here "$@"); do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    case $system in
    fedora) line="dnf install -y$missing" ;;
    *) line="apt-get install -y --no-install-recommends$missing" ;;
    esac
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        as_root=sudo # on a terminal it may ask for a password
    else
        echo "Packages are missing, and there is no right to install them. As root:" >&2
        echo "    $line" >&2
        exit 2
    fi
    echo "installing:$missing" >&2
    # Renews an old list of packages; if that fails, the next line reports it.
    [ "$system" = fedora ] || $as_root apt-get update -qq >&2 || true
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive $line -q >&2 || {
        echo "This did not work:" >&2
        echo "    $line" >&2
        exit 2
    }
}

# Packages that build leat, and those that its tests need besides. FOREIGN is the other architecture,
# for which a cross-compiler and an emulator check that leat gives the same results.
BUILD_PACKAGES="make gcc libc6-dev cmake ninja-build libcyaml-dev libyaml-dev libsqlite3-dev libfabric-dev libopenmpi-dev openmpi-bin pvm-dev pvm-examples libotf2-trace-dev clang bpftool libbpf-dev libexpat1-dev libmicrohttpd-dev g++"
case $(dpkg --print-architecture 2>/dev/null) in
arm64) FOREIGN=x86_64 FOREIGN_PACKAGES="gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user" ;;
*) FOREIGN=aarch64 FOREIGN_PACKAGES="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
esac
DEB_PACKAGES="build-essential dpkg-dev debhelper dh-python fakeroot python3"
TEST_PACKAGES="$FOREIGN_PACKAGES ocl-icd-libopencl1 pocl-opencl-icd clang-format clang-tidy cppcheck shellcheck tshark libisal-dev jq python3 python3-jsonschema binutils mandoc pkg-config librsvg2-bin chromium netpipe-openmpi netpipe-pvm procps otf2-tools iproute2 iputils-ping valgrind gdb strace curl zsh fish groff-base python3-pip python3-venv mypy python3-pandas python3-matplotlib python3-mpi4py jupyter-nbconvert python3-ipykernel"
