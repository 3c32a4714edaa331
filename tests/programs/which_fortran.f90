! build: gfortran -O2 -fopenmp
! Threads are known by what pthread_self says; each does the columns of its place in a table.
program which_fortran
  use omp_lib
  use iso_c_binding, only: c_int, c_short, c_long
  implicit none
  include 'test.inc'
  interface
    integer(c_long) function own_handle() bind(c, name='pthread_self')
      import :: c_long
    end function
  end interface
  integer, parameter :: most = 64, rows = 40
  integer(c_long) :: known(most), me
  integer :: done(rows, most), met, own, i, threads, wrong, rounds

  threads = omp_get_max_threads()
  met = 0
  wrong = 0
  rounds = 0
  do
    done = 0
    !$omp parallel private(me, own, i)
    me = own_handle()
    !$omp critical
    own = 0
    do i = 1, met
      if (known(i) == me) own = i
    end do
    if (own == 0) then
      met = met + 1
      known(met) = me
      own = met
    end if
    !$omp end critical
    do i = 1, rows
      done(i, own) = done(i, own) + 1
    end do
    !$omp end parallel
    if (any(done(:, 1:threads) /= 1) .or. any(done(:, threads + 1:) /= 0)) wrong = wrong + 1
    rounds = rounds + 1
    input = pollfd(0_c_int, 1_c_short, 0_c_short)
    if (poll(input, 1_c_long, 0_c_int) /= 0) exit
  end do
  print '(a,i0)', 'rounds=', rounds
  print '(a,i0)', 'wrong=', wrong
  if (wrong /= 0) stop 1
end program
