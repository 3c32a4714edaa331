! build: gfortran -O2 -fopenmp
! One thread, the first in a single construct, waits for an answer that only another one gives.
program waits_fortran
  use omp_lib
  use iso_c_binding, only: c_int, c_short, c_long
  implicit none
  include 'test.inc'
  integer :: asked, answer, see, wrong, rounds
  logical :: is_one

  wrong = 0
  rounds = 0
  do
    asked = 0
    answer = 0
    !$omp parallel private(see, is_one)
    is_one = .false.
    !$omp single
    is_one = .true.
    !$omp end single nowait
    if (is_one) then
      !$omp atomic write
      asked = 1
      do
        !$omp atomic read
        see = answer
        if (see /= 0) exit
      end do
    else
      do
        !$omp atomic read
        see = asked
        if (see /= 0) exit
      end do
      !$omp atomic
      answer = answer + 1
    end if
    !$omp end parallel
    if (answer /= omp_get_max_threads() - 1) wrong = wrong + 1
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
  if (wrong /= 0) stop 1
end program
