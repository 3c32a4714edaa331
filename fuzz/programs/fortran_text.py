"""The text around the parts of a program in Fortran (fortran.py)."""

PROGRAM = """module parts
  use omp_lib
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: warmed(64)
  MODULE
contains
  PROCEDURES
  integer function work(n)
    integer, intent(in) :: n
    integer :: i
    real(8), volatile :: x
    x = 1
    do i = 1, WORK
      x = x * 1.0000001d0
    end do
    work = n
  end function
  subroutine warm()
    character(16) :: text
    integer :: length, wait, i
    integer(c_int) :: ignored
    real(8) :: until
    interface
      integer(c_int) function usleep(microseconds) bind(c)
        import
        integer(c_int), value :: microseconds
      end function
    end interface
    call get_environment_variable('WARM_MS', text, length)
    if (length == 0) return
    read (text, *) wait
    until = omp_get_wtime() + wait / 1000d0
    do while (omp_get_wtime() < until)
      !$omp parallel do
      do i = 1, 64
        warmed(i) = i
      end do
      ignored = usleep(500_c_int)
    end do
  end subroutine
end module
program hunted
  use parts
  implicit none
  integer :: round, t
  integer(8) :: r
  DECLARATIONS
  r = 0
  t = omp_get_max_threads()
  call warm()
  do round = 1, ROUNDS
    REGION
  end do
  print '(i0)', r
end program
"""

# What parts use, by its name in their text: in the module's head and behind its `contains`.
MODULE = {
    "tickets": """integer :: tickets = 0""",
    "kept_": """integer :: kept_ = 0
  !$omp threadprivate(kept_)""",
    "held": """integer :: held = 0
  common /kept/ held
  !$omp threadprivate(/kept/)""",
    "lock": """integer(omp_lock_kind) :: lock""",
    "pair": """type pair
    integer :: a, b
  end type""",
    "gettid": """interface
    integer(c_int) function gettid() bind(c)
      import
    end function
  end interface""",
    "pthread_self": """interface
    integer(c_long) function pthread_self() bind(c)
      import
    end function
  end interface""",
}

PROCEDURES = {
    "bounds": """subroutine bounds(me, of, from, to)
    integer, intent(in) :: me, of
    integer, intent(out) :: from, to
    from = me * (64 / of) + 1; to = (me + 1) * (64 / of)
  end subroutine""",
    "fill": """subroutine fill(cells, by)
    integer, intent(out) :: cells(:)
    integer, intent(in) :: by
    integer :: i
    do i = 1, size(cells)
      cells(i) = i * by
    end do
  end subroutine""",
    "scratch_sum": """integer function scratch_sum(n, by)
    integer, intent(in) :: n, by
    integer :: own(n)
    own = by
    scratch_sum = sum(own)
  end function""",
    "scaled": """pure real(8) function scaled(x, by)
    !$omp declare simd(scaled) uniform(by)
    real(8), intent(in) :: x, by
    scaled = x * by + 1
  end function""",
    "fib": """recursive subroutine fib(n, f)
    integer, intent(in) :: n
    integer(8), intent(out) :: f
    integer(8) :: a, b
    if (n < 2) then
      f = n
      return
    end if
    !$omp task shared(a) if(n > 8)
    call fib(n - 1, a)
    !$omp end task
    call fib(n - 2, b)
    !$omp taskwait
    f = a + b
  end subroutine""",
    "by_thread": """integer(8) function integrate(g)
    interface
      integer(8) function g(x)
        integer, intent(in) :: x
      end function
    end interface
    integer :: i
    integrate = 0
    do i = 1, 50
      integrate = integrate + g(i)
    end do
  end function
  integer(8) function by_thread(k)
    integer, intent(in) :: k
    by_thread = integrate(f)
  contains
    integer(8) function f(x)
      integer, intent(in) :: x
      f = k * x
    end function
  end function""",
}
