# shellcheck disable=SC2034
# Sourced by ./demo and ./check: installs Debian packages that are missing, or says which.
#   need_packages NAME...
need_packages() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    line="apt-get install -y --no-install-recommends$missing"
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
    $as_root apt-get update -qq >&2 || true
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive $line -qq >&2 || {
        echo "This did not work:" >&2
        echo "    $line" >&2
        exit 2
    }
}

# Packages that build leat, and those that its tests need besides. FOREIGN is the other architecture,
# for which a cross-compiler and an emulator check that leat gives the same results.
BUILD_PACKAGES="make gcc libc6-dev cmake ninja-build libcyaml-dev libyaml-dev libsqlite3-dev libfabric-dev libopenmpi-dev openmpi-bin pvm-dev pvm-examples libotf2-trace-dev clang bpftool libbpf-dev libexpat1-dev g++"
case $(dpkg --print-architecture 2>/dev/null) in
arm64) FOREIGN=x86_64 FOREIGN_PACKAGES="gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user" ;;
*) FOREIGN=aarch64 FOREIGN_PACKAGES="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
esac
DEB_PACKAGES="dpkg-dev debhelper dh-python fakeroot python3"
TEST_PACKAGES="$FOREIGN_PACKAGES ocl-icd-libopencl1 pocl-opencl-icd clang-format cppcheck shellcheck tshark libisal-dev jq python3 python3-jsonschema binutils mandoc pkg-config librsvg2-bin chromium netpipe-openmpi netpipe-pvm procps otf2-tools iproute2 iputils-ping valgrind gdb strace zsh fish groff-base python3-pip python3-venv mypy python3-pandas python3-matplotlib python3-mpi4py jupyter-nbconvert python3-ipykernel"
