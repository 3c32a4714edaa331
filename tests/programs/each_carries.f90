! build: gfortran -O2 -fopenmp
! Each thread's generator goes on from one iteration of a static loop to the next.
program each_carries
  use omp_lib
  use iso_c_binding, only: c_int, c_short, c_long
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  include 'test.inc'
  integer, parameter :: share = 1000
  integer(int64) :: state, total, expected
  integer :: i, threads, rounds, wrong

  threads = omp_get_max_threads()
  expected = 0
  state = 12345
  do i = 1, share
    state = next(state)
    expected = expected + state / 65536 * threads
  end do
  rounds = 0
  wrong = 0
  do
    total = 0
    state = 12345
    !$omp parallel do schedule(static) firstprivate(state) reduction(+:total)
    do i = 1, share * threads
      state = next(state)
      total = total + state / 65536
    end do
    if (total /= expected) wrong = wrong + 1
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
  if (wrong /= 0) stop 1

contains

  pure function next(from) result(to)
    integer(int64), intent(in) :: from
    integer(int64) :: to
    to = mod(from * 1103515245_int64 + 12345_int64, 2147483648_int64)
  end function
end program
