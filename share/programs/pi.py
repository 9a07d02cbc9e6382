# An MPI program in Python (Debian: python3-mpi4py): each rank adds its share of the area under
# 4/(1+x^2), and all learn the sum. The clock is the simulated network's.
#
#     leat run --fabric torus:2,2 -n 4 --library mpi -- /usr/bin/python3 pi.py
from mpi4py import MPI

STEPS = 100_000
world = MPI.COMM_WORLD
middles = ((i + 0.5) / STEPS for i in range(world.rank, STEPS, world.size))
share = sum(4 / (1 + x * x) / STEPS for x in middles)
began = MPI.Wtime()
area = world.allreduce(share, op=MPI.SUM)
if world.rank == 0:
    print(f"pi is about {area:.7f}, summed in {1e6 * (MPI.Wtime() - began):.3f} us")
