#!/bin/sh
# A sweep on a cluster: sbatch share/slurm/sweep.sh torus:16,16 --load 0.05:0.95:0.05 --seeds 10 --store runs.sqlite
# A rank on each processor, each with one run at a time. The arguments are those of leat sweep. Submitted again, it
# continues.
#SBATCH --job-name=leat
#SBATCH --ntasks=64
#SBATCH --time=04:00:00
#SBATCH --output=leat-%j.out
set -eu
[ $# -gt 0 ] || { echo "usage: sbatch $0 FABRIC... --load L [option of leat sweep ...]" >&2; exit 2; }
exec mpirun leat sweep "$@"
