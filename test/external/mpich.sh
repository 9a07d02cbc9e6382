#!/bin/sh
# MPICH's test suite, which is no part of leat: every case under stock Open MPI, then over a simulated network, and a table of both.
# DIR is a clone of pmodels/mpich; the suite is built in DIR/test/mpi/build-leat with Open MPI's compilers. Needs autoconf, automake,
# libtool, gfortran and libopenmpi-dev; building takes a quarter of an hour, a run half an hour.
# usage: mpich.sh DIR [--leat LEAT] [--fabric FABRIC]... [--only REGEX] [--jobs N] [--seconds N] [--most N] [--resume] [--again]
set -eu
[ $# -ge 1 ] && [ -d "$1/test/mpi" ] && [ -d "$1/confdb" ] || {
    echo "mpich.sh: expected the folder of a clone of pmodels/mpich (test/mpi and confdb in it)" >&2
    exit 2
}
here=$(realpath "$(dirname "$0")")
suite=$(realpath "$1/test/mpi")
shift
for tool in autoreconf automake libtoolize gfortran mpicc.openmpi mpifort.openmpi; do
    command -v $tool > /dev/null || {
        echo "mpich.sh: no $tool: install autoconf, automake, libtool, gfortran and libopenmpi-dev" >&2
        exit 2
    }
done
build=$suite/build-leat
from=$PWD # paths of the user's are from here
if [ ! -e "$build/Makefile" ]; then
    cd "$suite"
    [ -e confdb ] || cp -a ../../confdb confdb
    [ -e dtpools/confdb ] || cp -a ../../confdb dtpools/confdb
    mkdir -p "$build"
    echo "mpich.sh: configuring; see $build/configure.log"
    ./autogen.sh > "$build/configure.log" 2>&1
    cd "$build"
    # The last step of configure makes a script executable that only a build inside the source has: it fails, and nothing needs it.
    ../configure --enable-strictmpi --disable-cxx --with-mpi=/usr CFLAGS='-O1 -w' CC=mpicc.openmpi MPICC=mpicc.openmpi \
        MPIFC=mpifort.openmpi MPIF77=mpif77.openmpi >> configure.log 2>&1 || [ -e Makefile ]
fi
cd "$build"
echo "mpich.sh: building; see $build/build.log"
make -k -j "$(nproc)" check > build.log 2>&1 || true # some programs need calls that Open MPI 4 does not have
cd "$from"
exec python3 "$here/mpich.py" "$build" "$@"
