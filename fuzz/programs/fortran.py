"""The same in Fortran, whole regions at a time: declarations, the region with what follows it. `r` is the
program's result, `t` the number of threads that it expects, `round` the number of the round."""

DEPENDENT = {
    "distinct": ("logical :: met(0:1023)", """met = .false.
    !$omp parallel
    met(omp_get_thread_num()) = .true.
    !$omp end parallel
    r = r + count(met)"""),
    "weak_scaling": ("integer(8) :: done", """done = 0
    !$omp parallel reduction(+:done)
    done = done + 10
    !$omp end parallel
    r = r + 1000 * done / (t * 10)"""),
    "blocks": ("integer :: cells(256), me, i", """cells = 0
    !$omp parallel private(me, i)
    me = omp_get_thread_num()
    do i = me * (256 / t) + 1, (me + 1) * (256 / t)
      cells(i) = cells(i) + i
    end do
    !$omp end parallel
    r = r + sum(cells)"""),
    "waits": ("integer :: came", """came = 0
    !$omp parallel
    !$omp atomic
    came = came + 1
    do
      !$omp flush
      if (came >= t) exit
    end do
    !$omp end parallel
    r = r + came"""),
    "carried": ("integer(8) :: state, s; integer :: i", """s = 0; state = 12345
    !$omp parallel do firstprivate(state) reduction(+:s) schedule(static)
    do i = 1, 64
      state = mod(state * 1103515245_8 + 12345_8, 2147483648_8)
      s = s + mod(state, 1000_8)
    end do
    r = r + s"""),
    "internal_procedure": ("integer(8) :: s", """s = 0
    !$omp parallel num_threads(t) reduction(+:s)
    s = s + by_thread(omp_get_thread_num())
    !$omp barrier
    s = s + by_thread(omp_get_thread_num() + 1)
    !$omp end parallel
    r = r + s"""),
    "common_block": ("", """!$omp parallel
    held = held + round
    !$omp critical
    r = r + held
    !$omp end critical
    !$omp end parallel"""),
}

PURE = {
    "sum": ("integer(8) :: s; integer :: i", """s = 0
    !$omp parallel do SCHEDULE reduction(+:s)
    do i = 1, 256
      s = s + work(i) * round
    end do
    r = r + s"""),
    "fill": ("integer :: cells(256), i", """!$omp parallel do SCHEDULE
    do i = 1, 256
      cells(i) = work(i) + round
    end do
    r = r + sum(cells)"""),
    "workshare": ("integer :: cells(256)", """cells = round
    !$omp parallel workshare
    cells = cells * 3 + 1
    !$omp end parallel workshare
    r = r + sum(cells)"""),
    "private_array": ("integer :: cells(256), own(8), i, j", """!$omp parallel do SCHEDULE private(own, j)
    do i = 1, 256
      do j = 1, 8
        own(j) = work(i) + j
      end do
      cells(i) = own(mod(i, 8) + 1)
    end do
    r = r + sum(cells)"""),
    "maximum": ("integer(8) :: m; integer :: i", """m = -1
    !$omp parallel do SCHEDULE reduction(max:m)
    do i = 1, 256
      m = max(m, int(mod(work(i) * 7919, 251), 8))
    end do
    r = r + m"""),
    "dot": ("real(8) :: x(256), y(256), s; integer :: i", """s = 0
    !$omp parallel
    !$omp do SCHEDULE
    do i = 1, 256
      x(i) = mod(i, 7); y(i) = mod(i, 5)
    end do
    !$omp do SCHEDULE reduction(+:s)
    do i = 1, 256
      s = s + x(i) * y(i)
    end do
    !$omp end parallel
    r = r + int(s, 8)"""),
    "stencil": ("real(8) :: u(66,66), v(66,66); integer :: i, j, k", """u = 0; u(1,:) = 64; v = 0
    do k = 1, 3
      !$omp parallel do SCHEDULE
      do j = 2, 65
        do i = 2, 65
          v(i, j) = 0.25d0 * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
        end do
      end do
      !$omp parallel do SCHEDULE
      do j = 2, 65
        u(2:65, j) = v(2:65, j)
      end do
    end do
    r = r + int(sum(u), 8)"""),
    "collapsed": ("integer :: cells(16,16), i, j", """!$omp parallel do collapse(2) SCHEDULE
    do j = 1, 16
      do i = 1, 16
        cells(i, j) = work(i) * 3 + j + round
      end do
    end do
    r = r + sum(cells)"""),
    "sections": ("integer :: one, two", """!$omp parallel sections
    !$omp section
    one = work(3) + round
    !$omp section
    two = work(5) * 2
    !$omp end parallel sections
    r = r + one + 3 * two"""),
    "single": ("integer :: cells(256), pivot, i", """pivot = 0
    !$omp parallel
    !$omp do SCHEDULE
    do i = 1, 256
      cells(i) = work(i) + round
    end do
    !$omp single
    pivot = cells(17)
    !$omp end single
    !$omp do SCHEDULE
    do i = 1, 256
      cells(i) = cells(i) + pivot
    end do
    !$omp end parallel
    r = r + sum(cells)"""),
    "mathematics": ("real(8) :: cells(256); integer :: i", """!$omp parallel do SCHEDULE
    do i = 1, 256
      cells(i) = sqrt(dble(work(i) + round)) + floor(8 * sin(dble(i)))
    end do
    r = r + int(sum(cells) * 16, 8)"""),
    "matmul": ("real(8) :: a(24,24), b(24,24), c(24,24); integer :: i, j", """!$omp parallel do SCHEDULE
    do j = 1, 24
      do i = 1, 24
        a(i, j) = i + j; b(i, j) = i - j
      end do
    end do
    !$omp parallel do SCHEDULE
    do j = 1, 24
      c(:, j) = matmul(a, b(:, j))
    end do
    r = r + int(sum(c), 8)"""),
}

PROGRAM = """module parts
  use omp_lib
  implicit none
  integer :: warmed(64)
  MODULE
contains
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
    real(8) :: until
    call get_environment_variable('WARM_MS', text, length)
    if (length == 0) return
    read (text, *) wait
    until = omp_get_wtime() + wait / 1000d0
    do while (omp_get_wtime() < until)
      !$omp parallel do
      do i = 1, 64
        warmed(i) = i
      end do
    end do
  end subroutine
  integer(8) function integrate(g)
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
  end function
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


def program(choice):
    """The text of one program."""
    declarations, region = (PURE if choice["pure"] else DEPENDENT)[choice["what"]]
    kept = "integer :: held = 0\n  common /kept/ held\n  !$omp threadprivate(/kept/)"
    text = PROGRAM.replace("MODULE", kept if choice["what"] == "common_block" else "")
    text = text.replace("DECLARATIONS", declarations.replace("; ", "\n  ")).replace("REGION", region)
    text = text.replace("SCHEDULE", choice["schedule"].replace("nonmonotonic : ", ""))
    return text.replace("ROUNDS", str(choice["rounds"])).replace("WORK", str(choice["work"]))
