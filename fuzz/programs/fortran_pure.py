"""Fortran programs that are right at any size (fortran.py)."""

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
    "allocatable_private": ("integer, allocatable :: own(:); integer :: cells(256), i, j", """allocate(own(8))
    !$omp parallel do SCHEDULE private(own, j)
    do i = 1, 256
      if (.not. allocated(own)) allocate(own(8))
      do j = 1, 8
        own(j) = work(i) * j
      end do
      cells(i) = sum(own) + round
    end do
    deallocate(own)
    r = r + sum(cells)"""),
    "allocatable_firstprivate": ("integer, allocatable :: table(:); integer :: cells(256), i", """
    allocate(table(8), source=round)
    !$omp parallel do SCHEDULE firstprivate(table)
    do i = 1, 256
      table(mod(i, 8) + 1) = i
      cells(i) = table(mod(i, 8) + 1) * 3
    end do
    deallocate(table)
    r = r + sum(cells)"""),
    "automatic_array": ("integer :: cells(256), i", """!$omp parallel do SCHEDULE
    do i = 1, 256
      cells(i) = scratch_sum(mod(i, 9) + 1, round)
    end do
    r = r + sum(cells)"""),
    "array_reduction": ("integer(8) :: bins(8); integer :: i", """bins = 0
    !$omp parallel do SCHEDULE reduction(+:bins)
    do i = 1, 512
      bins(mod(i * 7919, 8) + 1) = bins(mod(i * 7919, 8) + 1) + work(i)
    end do
    r = r + sum(bins * [1, 2, 3, 4, 5, 6, 7, 8])"""),
    "logical_reductions": ("logical :: all_, any_; integer :: i", """all_ = .true.; any_ = .false.
    !$omp parallel do SCHEDULE reduction(.and.:all_) reduction(.or.:any_)
    do i = 1, 256
      all_ = all_ .and. work(i) > 0; any_ = any_ .or. i == 77
    end do
    if (all_ .and. any_) r = r + 7"""),
    "bit_reductions": ("integer :: ands, ors, xors, i", """ands = -1; ors = 0; xors = 0
    !$omp parallel do SCHEDULE reduction(iand:ands) reduction(ior:ors) reduction(ieor:xors)
    do i = 1, 256
      ands = iand(ands, not(iand(i, 4))); ors = ior(ors, ishft(1, mod(i, 20))); xors = ieor(xors, i * 31)
    end do
    r = r + ands + ors + xors"""),
    "minimum_of_reals": ("real(8) :: least, most; integer :: i", """least = 1d9; most = -1d9
    !$omp parallel do SCHEDULE reduction(min:least) reduction(max:most)
    do i = 1, 256
      least = min(least, dble(mod(i * 37, 101)) - 50); most = max(most, dble(mod(i * 53, 97)))
    end do
    r = r + int(most * 100 - least, 8)"""),
    "user_reduction": ("""type(pair) :: both; integer :: i; !$omp declare reduction(join:pair: &
  !$omp omp_out = pair(omp_out%a + omp_in%a, omp_out%b + omp_in%b)) &
  !$omp initializer(omp_priv = pair(0, 0))""", """both = pair(0, 0)
    !$omp parallel do SCHEDULE reduction(join:both)
    do i = 1, 256
      both%a = both%a + work(i); both%b = both%b + 2 * i
    end do
    r = r + both%a + 3 * both%b"""),
    "do_concurrent": ("integer :: cells(256), i, k", """!$omp parallel do SCHEDULE
    do k = 0, 3
      do concurrent (i = 1:64)
        cells(k * 64 + i) = i * k + round
      end do
    end do
    r = r + sum(cells)"""),
    "workshare_where": ("integer :: cells(256), i", """cells = [(i, i = 1, 256)]
    !$omp parallel workshare
    where (mod(cells, 3) == 0)
      cells = cells * 2
    elsewhere
      cells = cells + round
    end where
    !$omp end parallel workshare
    r = r + sum(cells)"""),
    "workshare_forall": ("integer :: cells(16, 16), i, j", """!$omp parallel
    !$omp workshare
    forall (i = 1:16, j = 1:16) cells(i, j) = i * j + round
    cells(:, 1) = cells(:, 2) + 1
    !$omp end workshare
    !$omp end parallel
    r = r + sum(cells)"""),
    "tasks": ("integer :: cells(64), i", """!$omp parallel
    !$omp single
    do i = 1, 64
      !$omp task firstprivate(i)
      cells(i) = work(i) + round
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    r = r + sum(cells)"""),
    "tasks_depend": ("integer :: chain, i", """chain = round
    !$omp parallel
    !$omp single
    do i = 1, 32
      !$omp task depend(inout: chain) firstprivate(i)
      chain = mod(chain * 31 + work(i), 65521)
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    r = r + chain"""),
    "taskloop": ("integer :: cells(128), i", """!$omp parallel
    !$omp single
    !$omp taskloop grainsize(8)
    do i = 1, 128
      cells(i) = work(i) * 3 + round
    end do
    !$omp end single
    !$omp end parallel
    r = r + sum(cells)"""),
    "recursive_tasks": ("integer(8) :: f", """!$omp parallel
    !$omp single
    call fib(12, f)
    !$omp end single
    !$omp end parallel
    r = r + f"""),
    "ordered": ("integer :: log_(64), at, i", """at = 0
    !$omp parallel do ordered SCHEDULE
    do i = 1, 64
      !$omp ordered
      at = at + 1; log_(at) = i * round
      !$omp end ordered
    end do
    r = r + sum(log_ * [(i, i = 1, 64)])"""),
    "doacross": ("integer :: line(0:64), i", """line(0) = round
    !$omp parallel do ordered(1) SCHEDULE
    do i = 1, 64
      !$omp ordered depend(sink: i - 1)
      line(i) = mod(line(i - 1) * 3 + i, 65521)
      !$omp ordered depend(source)
    end do
    r = r + line(64)"""),
    "atomic": ("integer(8) :: total; integer :: i", """total = 0
    !$omp parallel do SCHEDULE
    do i = 1, 64
      !$omp atomic update
      total = total + work(i)
    end do
    r = r + total"""),
    "critical": ("integer(8) :: total; integer :: i, v", """total = 0
    !$omp parallel do SCHEDULE private(v)
    do i = 1, 64
      v = work(i)
      !$omp critical (adding)
      total = total + v
      !$omp end critical (adding)
    end do
    r = r + total"""),
    "lastprivate": ("integer :: last, i", """!$omp parallel do SCHEDULE lastprivate(last)
    do i = 1, 256
      last = work(i) * 3 + round
    end do
    r = r + last + i"""),
    "simd": ("real(8) :: x(256), y(256); integer :: i", """!$omp parallel do simd
    do i = 1, 256
      x(i) = mod(i, 7); y(i) = scaled(x(i), dble(round))
    end do
    r = r + int(sum(y), 8)"""),
    "texts": ("character(8) :: names(64); integer :: i", """!$omp parallel do SCHEDULE
    do i = 1, 64
      write (names(i), '(a, i0)') 'n', i * 17 + round
    end do
    do i = 1, 64
      r = r + ichar(names(i)(2:2)) + len_trim(names(i))
    end do"""),
    "derived_types": ("type(pair) :: all(64); integer :: i", """!$omp parallel do SCHEDULE
    do i = 1, 64
      all(i) = pair(work(i), i * round)
      all(i)%b = all(i)%b + all(i)%a
    end do
    r = r + sum(all%a) + sum(all%b)"""),
    "assumed_shape": ("integer :: cells(16, 16), j", """!$omp parallel do SCHEDULE
    do j = 1, 16
      call fill(cells(:, j), j + round)
    end do
    r = r + sum(cells)"""),
    "strided_sections": ("integer :: cells(256), j", """cells = 0
    !$omp parallel do SCHEDULE
    do j = 1, 8
      call fill(cells(j:256:8), j * round)
    end do
    r = r + sum(cells)"""),
    "internal_procedure": ("integer(8) :: s; integer :: i", """s = 0
    !$omp parallel do SCHEDULE reduction(+:s)
    do i = 1, 32
      s = s + by_thread(i)
    end do
    r = r + s"""),
    "pointers": ("integer, target :: cells(256); integer, pointer :: at(:); integer :: j", """
    !$omp parallel do SCHEDULE private(at)
    do j = 0, 7
      at => cells(j * 32 + 1:(j + 1) * 32)
      at = j * 3 + round
    end do
    r = r + sum(cells)"""),
    "complex_numbers": ("complex(8) :: z(128); integer :: i", """!$omp parallel do SCHEDULE
    do i = 1, 128
      z(i) = cmplx(i, round, 8) * (1d0, 2d0)
    end do
    r = r + int(sum(dble(z)) + sum(aimag(z)), 8)"""),
    "select_and_block": ("integer :: cells(256), i", """!$omp parallel do SCHEDULE
    do i = 1, 256
      block
        integer :: own
        own = work(i)
        select case (mod(i, 3))
        case (0); cells(i) = own
        case (1); cells(i) = own * round
        case default; cells(i) = -own
        end select
      end block
    end do
    r = r + sum(cells)"""),
    "prefix_by_scan": ("integer :: before(256), running, i", """running = 0
    !$omp parallel do reduction(inscan, +:running)
    do i = 1, 256
      running = running + mod(i, 11)
      !$omp scan inclusive(running)
      before(i) = running
    end do
    r = r + sum(before)"""),
    "triangle": ("real(8) :: a(32, 32); integer :: i, j", """a = 0
    !$omp parallel do SCHEDULE private(i)
    do j = 1, 32
      do i = 1, j
        a(i, j) = i * j + round
      end do
    end do
    r = r + int(sum(a), 8)"""),
    "teams": ("integer :: cells(256), i", """!$omp teams distribute parallel do num_teams(2)
    do i = 1, 256
      cells(i) = i * 5 + round
    end do
    r = r + sum(cells)"""),
}
