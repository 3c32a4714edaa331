! build: gfortran -O2 -frounding-math -fopenmp
! The first thread rounds upwards after some thousand regions, when its teams may have been resized, and its
! workers to the nearest number.
program words_fortran
  use iso_c_binding, only: c_int, c_short, c_long
  use ieee_arithmetic
  implicit none
  include 'test.inc'
  integer, parameter :: many = 3000
  real(8), volatile :: all(many)
  integer, parameter :: before = 50000
  integer :: wrong, rounds, expected

  all = 1d0
  rounds = 0
  wrong = 0
  expected = 0
  do
    if (rounds == before) then
      call ieee_set_rounding_mode(ieee_up)
      expected = many / 3
    end if
    if (upwards() /= expected) wrong = wrong + 1
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
contains
  integer function upwards()
    integer :: i, found
    found = 0
    !$omp parallel do schedule(static) reduction(+:found)
    do i = 1, many
      if (all(i) / 3d0 > 0.33333333333333331d0) found = found + 1
    end do
    !$omp end parallel do
    upwards = found
  end function
end program
