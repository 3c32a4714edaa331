"""*Limits only*: what can be limited in a process that runs already, without scaf in it. Its affinity, its
BLAS libraries' numbers of threads, and its OpenMP runtimes', for the calling thread."""

from __future__ import annotations

import ctypes
import os
import re
from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, Optional, Set, Tuple

from ._block import Block

_BLAS = re.compile(r"openblas|libblis", re.I)
_OPENMP = re.compile(r"lib(gomp|omp|iomp5)\b", re.I)
_MKL = re.compile(r"libmkl_rt\b", re.I)
#: Names of getters and setters, of builds for numpy and scipy, with suffixes for 64-bit integers.
_OPENBLAS = [
    (f"{before}openblas_get_num_threads{after}", f"{before}openblas_set_num_threads{after}")
    for before in ("", "scipy_")
    for after in ("", "64_", "_64", "_")
]


@dataclass(frozen=True)
class Setter:
    """A library that can be told how many threads to use."""

    name: str
    file: str
    get: Callable[[], int]
    set: Callable[[int], None]
    #: Whether what is set counts for the calling thread only.
    mine_only: bool = False


def _loaded() -> Set[str]:
    """Files of the libraries that the process has."""
    with open("/proc/self/maps") as maps:
        fields = (line.split(None, 5) for line in maps)
        return {words[5].strip() for words in fields if len(words) == 6 and ".so" in words[5]}


def _function(library: ctypes.CDLL, pairs: List[Tuple[str, str]]) -> Optional[Tuple[str, str]]:
    return next((pair for pair in pairs if hasattr(library, pair[1])), None)


def setters() -> Iterator[Setter]:
    """All libraries in the process that can be told."""
    kinds = (
        ("BLAS", _BLAS, [*_OPENBLAS, ("bli_thread_get_num_threads", "bli_thread_set_num_threads")], False),
        ("MKL", _MKL, [("MKL_Get_Max_Threads", "MKL_Set_Num_Threads")], False),
        ("OpenMP", _OPENMP, [("omp_get_max_threads", "omp_set_num_threads")], True),
    )
    for file in sorted(_loaded()):
        for name, pattern, pairs, mine_only in kinds:
            if not pattern.search(os.path.basename(file)):
                continue
            try:
                library = ctypes.CDLL(file, mode=os.RTLD_NOLOAD)
            except OSError:
                continue
            pair = _function(library, pairs)
            if pair is not None:
                getter, setter = getattr(library, pair[0]), getattr(library, pair[1])
                getter.argtypes, getter.restype = [], ctypes.c_int
                setter.argtypes, setter.restype = [ctypes.c_int], None
                yield Setter(name, os.path.basename(file), getter, setter, mine_only)


def threads() -> List[int]:
    return [int(name) for name in os.listdir("/proc/self/task")]


def narrow(cpus: Set[int]) -> Dict[int, Set[int]]:
    """Moves all threads onto these CPUs; what each had before."""
    before: Dict[int, Set[int]] = {}
    for _ in range(2):  # threads that were born meanwhile have either affinity
        for tid in threads():
            if tid not in before:
                try:
                    before[tid] = os.sched_getaffinity(tid)
                    os.sched_setaffinity(tid, cpus)
                except ProcessLookupError:
                    before.pop(tid, None)
    return before


def some(cpus: Set[int], count: int) -> Set[int]:
    """So many of the CPUs, for another process others: all that limit themselves would meet on the first."""
    first = os.getpid() * count % len(cpus)
    order = sorted(cpus)
    return set((order[first:] + order[:first])[:count])


class LimitsOnly(Block):
    """Limits that this process keeps by itself; no daemon knows of them. `print` says what obeyed."""

    def __init__(self, max: int) -> None:
        cpus = os.sched_getaffinity(0)
        if not 1 <= max:
            raise ValueError("max is the most CPUs that the process may use, at least 1")
        self.min, self.max, self.weight = 1, min(max, len(cpus)), 1.0
        #: What obeys the limit, and what doesn't, in words.
        self.obeyed: List[str] = []
        self.ignored: List[str] = [
            "threads that were started for more CPUs: they take turns on fewer",
            "OpenMP of other threads than this one",
        ]
        self._all = cpus
        self._setters: List[Tuple[Setter, int]] = []
        for setter in setters():
            before = setter.get()
            setter.set(min(before, self.max))
            self._setters.append((setter, before))
            where = " in this thread" if setter.mine_only else ""
            self.obeyed.append(f"{setter.name} ({setter.file}): {setter.get()} of {before} threads{where}")
        self._narrow = some(cpus, self.max)
        self._affinities = narrow(self._narrow)
        self.obeyed.append(f"affinity: {self.max} of {len(cpus)} CPUs, for all threads")

    def undo(self) -> None:
        for setter, before in self._setters:
            setter.set(before)
        for tid in threads():
            # Threads that were born meanwhile have inherited it. Others may have moved some since.
            try:
                if os.sched_getaffinity(tid) == self._narrow:
                    os.sched_setaffinity(tid, self._affinities.get(tid, self._all))
            except ProcessLookupError:
                pass
        self._setters, self._affinities = [], {}

    def __str__(self) -> str:
        lines = [f"limits only: at most {self.max} CPUs, by this process itself; no daemon knows of it"]
        lines += [f"  obeys: {what}" for what in self.obeyed]
        lines += [f"  doesn't: {what}" for what in self.ignored]
        return "\n".join(lines)
