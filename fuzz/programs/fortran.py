"""The same in Fortran, whole regions at a time: declarations, the region with what follows it. `r` is the
program's result, `t` the number of threads that it expects, `round` the number of the round. Those that are
right at any size are in fortran_pure.py."""

import re

from fortran_pure import PURE
from fortran_text import MODULE, PROCEDURES, PROGRAM

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
    "tickets": ("integer :: mine; logical :: met(0:1023)", """met = .false.
    !$omp parallel private(mine)
    !$omp atomic capture
    mine = tickets
    tickets = tickets + 1
    !$omp end atomic
    met(mod(mine, t)) = .true.
    !$omp end parallel
    r = r + count(met)"""),
    "tickets_by_critical": ("integer :: mine, cells(0:1023)", """cells = 0
    !$omp parallel private(mine)
    !$omp critical (drawing)
    mine = mod(tickets, t); tickets = tickets + 1
    !$omp end critical (drawing)
    cells(mine) = cells(mine) + mine + 1
    !$omp end parallel
    r = r + sum(cells)"""),
    "tickets_by_lock": ("integer :: mine, cells(0:1023)", """cells = 0
    if (round == 1) call omp_init_lock(lock)
    !$omp parallel private(mine)
    call omp_set_lock(lock)
    mine = mod(tickets, t); tickets = tickets + 1
    call omp_unset_lock(lock)
    cells(mine) = cells(mine) + mine + 1
    !$omp end parallel
    r = r + sum(cells)"""),
    "gettid": ("integer :: seen(0:1023), many, i; integer(c_int) :: me; logical :: new", """many = 0
    !$omp parallel private(me, i, new)
    me = gettid()
    !$omp critical
    new = .true.
    do i = 0, many - 1
      if (seen(i) == me) new = .false.
    end do
    if (new) seen(many) = me
    if (new) many = many + 1
    !$omp end critical
    !$omp end parallel
    r = r + many"""),
    "pthread_self": ("integer(c_long) :: kept(0:1023), total", """if (round == 1) kept = 0
    !$omp parallel
    if (round == 1) kept(omp_get_thread_num()) = pthread_self()
    !$omp barrier
    !$omp atomic
    r = r + merge(1, 0, kept(omp_get_thread_num()) == pthread_self())
    !$omp end parallel"""),
    "num_threads": ("", """!$omp parallel
    !$omp master
    r = r + omp_get_num_threads()
    !$omp end master
    !$omp end parallel"""),
    "team_size_and_level": ("", """!$omp parallel reduction(+:r)
    r = r + omp_get_team_size(omp_get_level()) * 10 + omp_get_ancestor_thread_num(1)
    !$omp end parallel"""),
    "max_threads_scratch": ("integer, allocatable :: own(:); integer :: i", """
    allocate(own(0:omp_get_max_threads() - 1), source=0)
    !$omp parallel do schedule(static)
    do i = 1, 64
      own(omp_get_thread_num()) = own(omp_get_thread_num()) + i
    end do
    do i = 0, size(own) - 1
      r = r * 3 + own(i)
      r = mod(r, 1000003_8)
    end do
    deallocate(own)"""),
    "bounds_of_subroutine": ("integer :: cells(64), from, to, i", """cells = 0
    !$omp parallel private(from, to, i)
    call bounds(omp_get_thread_num(), t, from, to)
    do i = from, to
      cells(i) = cells(i) + i
    end do
    !$omp end parallel
    r = r + sum(cells)"""),
    "neighbours": ("integer :: own(0:1023), me", """!$omp parallel private(me)
    me = omp_get_thread_num(); own(me) = me * round
    !$omp barrier
    !$omp atomic
    r = r + own(mod(me + 1, t)) * (me + 1)
    !$omp end parallel"""),
    "threadprivate_of_module": ("", """!$omp parallel
    kept_ = kept_ + round
    !$omp atomic
    r = r + kept_
    !$omp end parallel"""),
    "copyin": ("", """kept_ = round * 5
    !$omp parallel copyin(kept_)
    kept_ = kept_ + omp_get_thread_num()
    !$omp atomic
    r = r + kept_
    !$omp end parallel"""),
    "copyprivate": ("integer :: given", """!$omp parallel private(given)
    !$omp single
    given = omp_get_num_threads()
    !$omp end single copyprivate(given)
    !$omp atomic
    r = r + given
    !$omp end parallel"""),
    "ordered_ranks": ("integer :: i", """!$omp parallel do ordered schedule(static, 1)
    do i = 1, t
      !$omp ordered
      r = mod(r * 31 + omp_get_thread_num(), 65521_8)
      !$omp end ordered
    end do"""),
    "sections_of_team": ("integer :: a, b", """!$omp parallel sections
    !$omp section
    a = omp_get_num_threads()
    !$omp section
    b = omp_get_team_size(1)
    !$omp end parallel sections
    r = r + a * 10 + b"""),
    "tasks_of_team": ("integer :: i, a(8)", """!$omp parallel
    !$omp single
    do i = 1, 8
      !$omp task firstprivate(i)
      a(i) = omp_get_num_threads() + merge(0, 100, omp_get_thread_num() < t)
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    r = r + sum(a)"""),
    "share_of_loop": ("integer :: i; integer(8) :: own", """!$omp parallel private(own) reduction(+:r)
    own = 0
    !$omp do schedule(static)
    do i = 1, 64
      own = own + 1
    end do
    r = r + own * own
    !$omp end parallel"""),
    "do_concurrent": ("integer :: cells(256), me, i", """cells = 0
    !$omp parallel private(me)
    me = omp_get_thread_num()
    do concurrent (i = 1:32)
      cells(me * 32 + i) = i + me
    end do
    !$omp end parallel
    r = r + sum(cells)"""),
    "workshare": ("integer :: cells(64), own(0:1023)", """own = 0
    !$omp parallel
    !$omp workshare
    cells = round
    !$omp end workshare
    own(omp_get_thread_num()) = cells(1)
    !$omp end parallel
    r = r + sum(own)"""),
    "array_reduction": ("integer :: bins(0:7)", """bins = 0
    !$omp parallel reduction(+:bins)
    bins(mod(omp_get_thread_num(), 8)) = 5
    !$omp end parallel
    r = r + sum(bins * [1, 2, 3, 4, 5, 6, 7, 8])"""),
    "allocatable_private": ("integer, allocatable :: own(:)", """!$omp parallel private(own) reduction(+:r)
    allocate(own(omp_get_thread_num() + 1))
    own = round
    r = r + sum(own)
    deallocate(own)
    !$omp end parallel"""),
    "written_and_read": ("character(12) :: text; integer :: me",
        """!$omp parallel private(text, me) reduction(+:r)
    write (text, '(i0)') omp_get_thread_num()
    read (text, *) me
    r = r + me + 1
    !$omp end parallel"""),
    "file_of_thread": ("integer :: unit_, me", """if (round <= 5) then
    !$omp parallel private(unit_, me) reduction(+:r)
    open (newunit=unit_, status='scratch')
    write (unit_, *) omp_get_thread_num()
    rewind (unit_)
    read (unit_, *) me
    close (unit_)
    r = r + me + 1
    !$omp end parallel
    end if"""),
    "associated_names": ("integer :: own(0:1023)", """own = 0
    !$omp parallel
    associate (here => own(omp_get_thread_num()))
      here = here + round
    end associate
    !$omp end parallel
    r = r + sum(own)"""),
    "nested": ("", """call omp_set_max_active_levels(2)
    !$omp parallel num_threads(2) reduction(+:r)
    !$omp parallel num_threads(t) reduction(+:r)
    r = r + omp_get_thread_num() + 1
    !$omp end parallel
    !$omp end parallel"""),
    "random_streams": ("real(8) :: x; integer, allocatable :: put(:); integer :: n", """
    if (round == 1) then
      call random_seed(size=n)
      allocate(put(n), source=12345)
      call random_seed(put=put)
    end if
    !$omp parallel private(x) reduction(+:r)
    call random_number(x)
    r = r + int(x * 1000, 8)
    !$omp end parallel"""),
}

def program(choice):
    """The text of one program."""
    declarations, region = (PURE if choice["pure"] else DEPENDENT)[choice["what"]]
    text = PROGRAM
    for name, table in (("MODULE", MODULE), ("PROCEDURES", PROCEDURES)):
        used = [part for word, part in table.items() if re.search(rf"\b{word}\b", declarations + region)]
        text = text.replace(name, "\n  ".join(used))
    text = text.replace("DECLARATIONS", declarations.replace("; ", "\n  ")).replace("REGION", region)
    text = text.replace("SCHEDULE", choice["schedule"].replace("nonmonotonic : ", ""))
    return text.replace("ROUNDS", str(choice["rounds"])).replace("WORK", str(choice["work"]))
