"""`%load_ext scaf`: what can be managed in an interpreter that runs already.

The client library is brought in, so that the daemon knows the process and gives it a share. The daemon moves
all threads onto that many CPUs, and the library has OpenBLAS and BLIS follow. OpenMP was there first: its
runtimes are told at the beginning of each cell, by their own setters."""

from __future__ import annotations

import hashlib
import subprocess
from ctypes import byref
from typing import Any, List, Optional

from . import _installed, _library, _setters, _share, _status
from .errors import Error, NoDaemon


class Session:
    """What is done for a notebook while the extension is loaded."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._library: Optional[_library.Library] = None
        self._preloaded = _library.here() is not None and not _library.late
        self._pool = 0
        self._work: Optional[_library.Work] = None
        self._openmp = [setter for setter in _setters.setters() if setter.mine_only]
        self._before = [setter.get() for setter in self._openmp]

    def begin(self) -> str:
        """Begins, and says what could be done and what couldn't."""
        try:
            self._library = _library.here() or _library.load(str(_installed.library()))
            _have_a_daemon()
            self._pool = _share.attach(self._library)
            told = _share.told_by_daemon()
        except (Error, OSError) as error:
            return f"scaf: {_without(error)}"
        if self._preloaded:
            return f"scaf: this process is managed; it has {told} now. Nothing else is needed."
        self._shell.events.register("pre_run_cell", self._cell_begins)
        self._shell.events.register("post_run_cell", self._cell_ends)
        return "\n".join([f"scaf: limits only, and by a daemon: this process has {told} now.", *self._what()])

    def end(self) -> None:
        """Ends what can be ended: the library stays, and the process is one with a single context."""
        if self._work is not None:
            self._cell_ends()
        for name, function in (("pre_run_cell", self._cell_begins), ("post_run_cell", self._cell_ends)):
            try:
                self._shell.events.unregister(name, function)
            except ValueError:
                pass
        for setter, threads in zip(self._openmp, self._before):
            setter.set(threads)

    def _what(self) -> List[str]:
        lines = ["  affinity: follows at once, all threads"]
        for setter in _setters.setters():
            when = "at the beginning of each cell, in this thread" if setter.mine_only else "at once"
            lines.append(f"  {setter.name} ({setter.file}): follows {when}")
        lines += [
            "  not managed: OpenMP teams that run, and libraries that are given a number of threads",
            "  all of it: start the notebook by `scaf run -- jupyter lab`",
        ]
        return lines

    def _cell_begins(self, info: Any = None) -> None:
        """Tells the daemon that a cell runs, and OpenMP's runtimes how many threads there are."""
        library = self._library
        if library is None:
            return
        cell = str(getattr(info, "raw_cell", "") or "")
        kind = int.from_bytes(hashlib.blake2b(cell.encode(), digest_size=5).digest(), "little")
        self._work = _library.Work()
        library.begin(byref(self._work), self._pool, kind, _share.natural())
        share = _share.share()
        known = {setter.file for setter in self._openmp}
        for setter in _setters.setters():
            if setter.mine_only and setter.file not in known:
                self._openmp.append(setter)
                self._before.append(setter.get())
        for setter, threads in zip(self._openmp, self._before):
            setter.set(min(threads, share))

    def _cell_ends(self, result: Any = None) -> None:
        if self._library is not None and self._work is not None:
            self._library.end(byref(self._work), 0)
        self._work = None


def _have_a_daemon() -> None:
    """Starts one by `scaf run` if there is none."""
    try:
        _status.status()
    except NoDaemon:
        subprocess.run([str(_installed.command()), "run", "--", "true"], check=False, capture_output=True)


def _without(error: Exception) -> str:
    """What there is without a daemon or the library."""
    names = sorted({f"{setter.name} ({setter.file})" for setter in _setters.setters()})
    lines = [
        f"no share for this process: {error}.",
        "  `with scaf.limit(max=2):` is obeyed all the same (limits only) by the affinity of all threads"
        + "".join(f", {name}" for name in names),
    ]
    return "\n".join(lines)


_session: Optional[Session] = None


def load(shell: Any) -> None:
    global _session
    if _session is None:
        _session = Session(shell)
        shell.push({"scaf": __import__("scaf")}, interactive=False)
        print(_session.begin())


def unload(shell: Any) -> None:
    global _session
    if _session is not None:
        _session.end()
        _session = None
