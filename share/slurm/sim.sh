#!/bin/sh
# One simulation on a cluster: sbatch share/slurm/sim.sh torus:64,64,64 --load 0.05
# A rank on each node, a thread for each of its processors. leat and Open MPI must be on the PATH of all
# nodes. The arguments are those of leat sim.
#SBATCH --job-name=leat
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=01:00:00
#SBATCH --output=leat-%j.out
set -eu
[ $# -gt 0 ] || { echo "usage: sbatch $0 FABRIC [option of leat sim ...]" >&2; exit 2; }
exec mpirun --map-by ppr:1:node:PE="${SLURM_CPUS_PER_TASK:-1}" leat sim "$@" --threads "${SLURM_CPUS_PER_TASK:-1}"
