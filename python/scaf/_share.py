"""This process's share: how much it is, what it is to be, and blocks whose results are exact."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Optional, Union

from . import _cpus, _daemon, _library, _setters, _status
from ._block import Block
from .errors import BY_SCAF_RUN, Error, NoDaemon, NotManaged

#: CPUs that the process would have without scaf, as far as known, and when they were counted.
_most = _cpus.usable()
_counted = time.monotonic()
#: Whether the daemon was asked for them: the process may have been narrowed before this module was there.
_asked = False
#: The pool that stands for all threads that this process's Python code makes. A forked child keeps it.
_pool = 0
#: For how long a process that isn't managed is taken for one that will be at once: it looks for a daemon
#: about once a second. Nothing once that was in vain, until it is managed.
_PATIENCE_S = 3.0
_in_vain = False


def natural() -> int:
    """Threads that the process would run at a time without scaf: its CPUs."""
    global _most, _asked, _counted
    # Files of control groups are read for that.
    now = time.monotonic()
    if now - _counted > 1:
        _most, _counted = max(_most, _cpus.usable()), now
    library = _library.here()
    if not _asked and library is not None and library.managed():
        _asked = True
        try:
            me = _status.status().me
            _most = max(_most, me.natural if me else 1)
        except Error:
            pass
    return _most


def attach(library: _library.Library) -> int:
    """Has the process managed, if there is a daemon; the number of the pool that stands for it."""
    global _pool
    if _pool == 0:
        _pool = library.register("python", natural())
    return _pool


def share() -> int:
    """How many contexts (hardware threads) this process may use now: so many workers are worth starting.

    The first call makes the process a managed one that has threads of its own. Without scaf, and while there
    is no daemon, it is the number of CPUs that affinity and the cgroup's quota allow. Takes half a
    microsecond.
    """
    library = _library.here()
    if library is None:
        return _cpus.usable()
    return min(int(library.dop(attach(library))), natural())


def managed() -> bool:
    """Whether a daemon manages this process now."""
    library = _library.here()
    if library is None:
        return False
    if _pool:
        # Looks after the connection, whose daemon may have answered late.
        library.dop(_pool)
    return library.managed()


def told_by_daemon() -> str:
    """What the daemon says that this process has, in words.

    Raises NotManaged if it doesn't know the process.
    """
    _wish({})
    me = _status.status().me
    if me is None or me.contexts is None:
        why = me.reason if me else "the daemon doesn't see it"
        raise NotManaged(f"this process is left alone: {why}")
    return f"{me.contexts} of {me.natural} contexts"


class Limit(Block):
    """Limits in force. As a context manager, puts back what was there before."""

    def __init__(self, before: Dict[str, Any], now: Dict[str, Any]) -> None:
        self._before = before
        #: What counts now.
        self.min: int = now["min"]
        self.max: Optional[int] = now["max"] or None
        self.weight: float = now["weight"]

    def undo(self) -> None:
        try:
            _wish(self._before)
        except Error:
            # A daemon that was started meanwhile knows of no limit.
            pass

    def __repr__(self) -> str:
        return f"scaf.Limit(min={self.min}, max={self.max}, weight={self.weight})"


def limit(
    min: Optional[int] = None, max: Optional[int] = None, weight: Optional[float] = None
) -> Union[Limit, _setters.LimitsOnly]:
    """Changes what this process gets from the daemon, within a quarter of a second: at least `min` and at
    most `max` contexts, and `weight` times as much as others. What isn't given stays.

    As a call it is for good; `with scaf.limit(max=2):` puts back what was there before. A daemon that is
    started anew knows only what `scaf run` said.

    In a process without scaf, and while no daemon manages it, `max` is obeyed as far as a running process
    can obey it: by *limits only*. The result says what obeyed and what didn't. `min` and `weight` raise
    NotManaged or NoDaemon there.
    """
    library = _library.here()
    only_max = max if min is None and weight is None else None
    if library is None:
        if only_max is None:
            raise NotManaged(
                f"without scaf in the process, only `max` can be limited; for the others, {BY_SCAF_RUN}"
            )
        return _setters.LimitsOnly(only_max)
    wish = {"min": min, "max": max, "weight": weight}
    attach(library)
    try:
        before = _wish({})
        now = _wish({name: value for name, value in wish.items() if value is not None})
    except (NoDaemon, NotManaged):
        if only_max is None:
            raise
        return _setters.LimitsOnly(only_max)
    return Limit(before, now)


def _wish(wish: Dict[str, Any]) -> Dict[str, Any]:
    """Tells the daemon. A process that has only just begun to attach is waited for, and one whose daemon was
    started anew."""
    global _in_vain
    deadline: Optional[float] = None
    while True:
        try:
            told: Dict[str, Any] = _daemon.ask({"wish": wish}, "wish")
            _in_vain = False
            return told
        except Error as error:
            if "isn't managed" not in str(error):
                raise
            # The answer itself may have taken long, of a daemon that was just starting.
            now = time.monotonic()
            deadline = deadline or now + (0 if _in_vain else _PATIENCE_S)
            if now >= deadline:
                _in_vain = True
                raise NotManaged(f"{error}; `scaf doctor` says why it may not be") from None
        time.sleep(0.01)
        share()


@contextmanager
def exact() -> Iterator[None]:
    """Within the block, results keep every bit that they have without scaf, as under `scaf run --exact`:
    teams and BLAS libraries have their own numbers of threads, on as many CPUs as were granted. So it may be
    slower beside others. Without scaf in the process nothing is done: nothing changes its results.
    """
    library = _library.here()
    if library is None:
        yield
        return
    library.exact(True)
    try:
        yield
    finally:
        library.exact(False)
