! build: gfortran -O2 -fopenmp
! The last iterations overflow, and the first thread has none of these.
program flags_asked
  use iso_c_binding, only: c_int, c_short, c_long
  use, intrinsic :: ieee_exceptions
  implicit none
  include 'test.inc'
  integer, parameter :: many = 3000
  real(8) :: from(many), to(many)
  integer :: i, wrong, rounds
  logical :: overflows

  from = 1d0
  from(many - 100:) = 1d300
  rounds = 0
  wrong = 0
  do
    !$omp parallel do schedule(static)
    do i = 1, many
      to(i) = from(i) * from(i)
    end do
    !$omp end parallel do
    call ieee_get_flag(ieee_overflow, overflows)
    if (overflows) wrong = wrong + 1
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  if (to(1) /= 1d0) wrong = wrong + 1
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
end program
