! build: gfortran -O2 -fopenmp -frecursive
! The first thread's stack may not grow any more: its workers have usual ones, and need more.
program stack_limit
  use iso_c_binding, only: c_int, c_short, c_long
  implicit none
  include 'test.inc'
  type, bind(c) :: rlimit
    integer(c_long) :: now, most
  end type
  interface
    function getrlimit(kind, limit) bind(c)
      import :: rlimit, c_int
      integer(c_int), value :: kind
      type(rlimit), intent(out) :: limit
      integer(c_int) :: getrlimit
    end function
    function setrlimit(kind, limit) bind(c)
      import :: rlimit, c_int
      integer(c_int), value :: kind
      type(rlimit), intent(in) :: limit
      integer(c_int) :: setrlimit
    end function
  end interface
  integer, parameter :: many = 300, stack = 3
  type(rlimit) :: limit
  integer :: results(many), i, wrong, rounds

  if (getrlimit(stack, limit) /= 0) stop 2
  limit%now = 512 * 1024
  if (setrlimit(stack, limit) /= 0) stop 3
  rounds = 0
  wrong = 0
  do
    !$omp parallel do schedule(static)
    do i = 1, many
      results(i) = on_stack(merge(100, 300000, i <= many / 3), i)
    end do
    !$omp end parallel do
    do i = 1, many
      if (results(i) /= 2 * mod(i, 8)) wrong = wrong + 1
    end do
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
contains
  integer function on_stack(length, value)
    integer, intent(in) :: length, value
    integer, volatile :: room(length)
    room(1) = mod(value, 8)
    room(length) = mod(value, 8)
    on_stack = room(1) + room(length)
  end function
end program
