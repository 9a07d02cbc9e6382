! An MPI program in Fortran 2008: each rank adds its share of the area under 4/(1+x^2), and all
! learn the sum. The clock is the simulated network's.
!
!     mpifort -o pi pi.f90
!     leat run --fabric torus:2,2 -n 4 -- ./pi
program pi
    use mpi_f08
    implicit none
    integer, parameter :: steps = 1000000
    integer :: rank, ranks, i
    double precision :: share, area, x, began
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    share = 0
    do i = rank, steps - 1, ranks
        x = (i + 0.5d0) / steps
        share = share + 4 / (1 + x * x) / steps
    end do
    began = MPI_Wtime()
    call MPI_Allreduce(share, area, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(a, f9.7, a, f9.3, a)', 'pi is about ', area, ', summed in ', &
        1e6 * (MPI_Wtime() - began), ' us'
    call MPI_Finalize()
end program
