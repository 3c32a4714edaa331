"""An executor whose threads follow this process's share."""

from __future__ import annotations

import hashlib
import threading
import time
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import byref
from typing import Any, Callable, Dict, Optional, Set, Tuple, TypeVar

from . import _library, _share

T = TypeVar("T")

#: While tasks wait, time between two looks at whether those that run sleep; the part of it that a task
#: computes at least.
_LOOK_S, _COMPUTES = 0.1, 0.05
#: Work is measured in pieces of at least so many seconds.
_PIECE_S = 0.02


class Pool(ThreadPoolExecutor):
    """A `ThreadPoolExecutor` in which no more tasks compute at a time than this process has contexts now.

    It has `max_workers` threads (by default as many as the process has CPUs), and those above the share wait
    between two tasks. Tasks that sleep or wait, for a file, a lock, or another task of the pool, don't count,
    so that a pool can't come to a standstill for a smaller share. Without scaf it is a `ThreadPoolExecutor`.
    """

    def __init__(
        self,
        max_workers: Optional[int] = None,
        *,
        name: str = "pool",
        thread_name_prefix: str = "",
        initializer: Optional[Callable[..., object]] = None,
        initargs: Tuple[Any, ...] = (),
    ) -> None:
        workers = _share.natural() if max_workers is None else max_workers
        super().__init__(workers, thread_name_prefix, initializer, initargs)
        self._gate = gate = _Gate(workers)
        self._leave: Callable[[], object] = lambda: None
        library = _library.here()
        number = library.register(name, workers) if library else 0
        if library and number:
            gate.limit = library.dop(number)
            kind = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=5).digest(), "little")
            leave = weakref.finalize(gate, library.unregister, number)
            leave.atexit = False
            self._leave = leave
            for target, more in ((_follow, ()), (_measure, (kind,))):
                arguments = (library, number, weakref.ref(gate), *more)
                threading.Thread(None, target, f"scaf{target.__name__}", arguments, daemon=True).start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        gate = self._gate
        gate.comes()
        try:
            future = super().submit(gate.run, fn, args, kwargs)
        except BaseException:
            gate.goes(None)
            raise
        future.add_done_callback(gate.goes)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._leave()

    @property
    def limit(self) -> int:
        """How many tasks may compute at a time now."""
        return min(self._gate.limit, self._max_workers)


class _Gate:
    """Lets in as many tasks at a time as the limit says."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        lock = threading.Lock()
        #: For threads that wait to be let in, and for whoever measures.
        self.opened, self.news = threading.Condition(lock), threading.Condition(lock)
        #: Threads with a task, those of them that don't compute, and how many wait to be let in.
        self.running: Set[int] = set()
        self.asleep: Set[int] = set()
        self.waiting = 0
        #: Tasks that aren't done, and tasks that are.
        self.pending = 0
        self.done = 0

    def is_open(self) -> bool:
        return len(self.running) - len(self.asleep) < self.limit

    def is_used(self) -> bool:
        return self.pending > 0

    def comes(self) -> None:
        with self.news:
            self.pending += 1
            if self.pending == 1:
                self.news.notify_all()

    def goes(self, _: Optional[Future[Any]]) -> None:
        with self.news:
            self.pending -= 1
            if self.pending == 0:
                self.news.notify_all()

    def run(self, fn: Callable[..., T], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> T:
        me = threading.get_ident()
        with self.opened:
            self.waiting += 1
            self.opened.wait_for(self.is_open)
            self.waiting -= 1
            self.running.add(me)
        try:
            return fn(*args, **kwargs)
        finally:
            with self.opened:
                self.running.discard(me)
                self.asleep.discard(me)
                self.done += 1
                self.opened.notify()

    def move(self, limit: int) -> None:
        with self.opened:
            self.limit = limit
            self.opened.notify_all()
            self.news.notify_all()


def _follow(library: _library.Library, pool: int, gate: weakref.ref[_Gate]) -> None:
    """Moves the gate's limit with the grant, until the gate is gone."""
    seen = 0
    while True:
        now = library.wait(pool, seen, 1000)
        held = gate()
        if held is None:
            return
        if now != seen:
            held.move(now)
        seen = now
        del held


def _measure(library: _library.Library, pool: int, gate: weakref.ref[_Gate], kind: int) -> None:
    """Tells the daemon what the pool does, and the gate which tasks sleep, until the gate is gone."""
    while True:
        held = gate()
        if held is None:
            return
        with held.news:
            works = held.news.wait_for(held.is_used, timeout=1.0)
        if works:
            _piece(library, pool, held, kind)
        del held


def _piece(library: _library.Library, pool: int, gate: _Gate, kind: int) -> None:
    """Measures one piece of work: under one limit, until several tasks are done."""
    work, limit, done = _library.Work(), gate.limit, gate.done
    clocks = _Clocks()
    library.begin(byref(work), pool, kind, limit)
    try:
        while True:
            with gate.news:
                gate.news.wait_for(lambda: gate.pending == 0 or gate.limit != limit, timeout=_PIECE_S)
                if gate.pending == 0 or gate.limit != limit or gate.done - done >= 2 * limit:
                    break
                if gate.waiting > 0 and clocks.are_due():
                    gate.asleep = clocks.asleep(gate.running)
                    gate.opened.notify_all()
    finally:
        library.end(byref(work), gate.done - done)


class _Clocks:
    """Which threads compute, by their CPU clocks."""

    def __init__(self) -> None:
        self._then = time.monotonic()
        self._used: Dict[int, float] = {}

    def are_due(self) -> bool:
        return time.monotonic() - self._then >= _LOOK_S

    def asleep(self, running: Set[int]) -> Set[int]:
        """Those of the threads, which all live, that have hardly computed since the last look."""
        now, known = time.monotonic(), self._used
        least = (now - self._then) * _COMPUTES
        self._used = {thread: time.clock_gettime(time.pthread_getcpuclockid(thread)) for thread in running}
        self._then = now
        return {thread for thread in running & set(known) if self._used[thread] - known[thread] < least}
