! build: gfortran -O2 -fopenmp
! Fixes the size of its teams in Fortran, whose calls have entry points of their own (4-byte integers).
program set_in_fortran
  use omp_lib
  use iso_c_binding, only: c_int, c_short, c_long
  implicit none
  include 'test.inc'
  integer :: team, smallest, rounds
  character(len=16) :: how

  call get_command_argument(1, how)
  if (how == 'dynamic') then
    call omp_set_dynamic(.false.)
  else
    call omp_set_num_threads(3)
  end if
  smallest = 1000
  rounds = 0
  do
    team = 0
    !$omp parallel reduction(+:team)
    team = 1
    !$omp end parallel
    smallest = min(smallest, team)
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'smallest=', smallest
end program
