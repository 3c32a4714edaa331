! build: gfortran -O2 -fopenmp
! Regions of fixed size whose threads ask the C library for their numbers: the same behind a barrier, and
! unlike.
program bound_fortran
  use omp_lib
  use iso_c_binding, only: c_int, c_short, c_long
  implicit none
  include 'test.inc'
  interface
    integer(c_int) function own_number() bind(c, name='gettid')
      import :: c_int
    end function
  end interface
  integer(c_int) :: numbers(0:3)
  integer :: wrong, rounds, i, me

  wrong = 0
  rounds = 0
  do
    !$omp parallel num_threads(4) private(i, me) reduction(+:wrong)
    me = omp_get_thread_num()
    numbers(me) = own_number()
    !$omp barrier
    do i = 0, 3
      if (i /= me .and. numbers(i) == numbers(me)) wrong = wrong + 1
    end do
    if (own_number() /= numbers(me)) wrong = wrong + 1
    !$omp end parallel
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
end program
