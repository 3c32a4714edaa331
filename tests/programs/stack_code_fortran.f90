! build: gfortran -O0 -fopenmp
! Internal procedures are actual arguments within regions of fixed size: gfortran puts code on the stack.
module quadrature
  implicit none
contains
  real(8) function integral(g, a, b)
    interface
      real(8) function g(x)
        real(8), intent(in) :: x
      end function
    end interface
    real(8), intent(in) :: a, b
    integer :: i
    integral = 0
    do i = 1, 50
      integral = integral + g(a + (b - a) * (i - 0.5d0) / 50) * (b - a) / 50
    end do
  end function

  real(8) function of_thread(k)
    integer, intent(in) :: k
    real(8) :: factor
    factor = k + 1
    of_thread = integral(line, 0d0, 1d0)
  contains
    real(8) function line(x)
      real(8), intent(in) :: x
      line = factor * x
    end function
  end function
end module

program stack_code
  use omp_lib
  use quadrature
  use iso_c_binding, only: c_int, c_short, c_long
  implicit none
  include 'test.inc'
  real(8) :: total
  integer :: wrong, rounds

  wrong = 0
  rounds = 0
  do
    total = 0
    !$omp parallel num_threads(4) reduction(+:total)
    total = total + of_thread(omp_get_thread_num())
    !$omp barrier
    total = total + of_thread(omp_get_thread_num())
    !$omp end parallel
    if (abs(total - 10) > 1d-9) wrong = wrong + 1
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
end program
