# shellcheck shell=sh
# Sourced after lib.sh by tests of `mpirun leat VERB`: $leat is the command.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
# Open MPI takes two locks in different orders.
echo deadlock:mca_btl_tcp > "$folder/suppressions"
export TSAN_OPTIONS="suppressions=$folder/suppressions print_suppressions=0"
command -v mpirun > /dev/null || { echo "skipped: mpirun is not installed"; exit 77; }
[ -e "$(dirname "$(readlink -f "$leat")")/../program/libleat-ranks.so" ] || { echo "skipped: built without MPI"; exit 77; }

# ranks N VERB ARGUMENT...
ranks() {
    n=$1
    shift
    timeout -k 5 300 mpirun --oversubscribe --bind-to none -n "$n" "$leat" "$@"
}
