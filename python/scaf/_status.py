"""The daemon's state of everything, as Python sees it: what `scaf ps` shows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple

from . import _daemon


@dataclass(frozen=True)
class Runtime:
    """A library with threads of its own that a program was found to have."""

    name: str
    file: str
    #: Threads that it may use now, and would use without scaf; 0 if unknown.
    threads: int
    most: int


@dataclass(frozen=True)
class Program:
    """A managed program."""

    name: str
    pid: int
    #: Contexts that it has now; None while it is left alone.
    contexts: Optional[int]
    #: Threads that it would run without scaf.
    natural: int
    #: How its share is carried out: "resize", "gather", "fold", ...
    mechanism: str
    #: Why it has so many contexts, in a sentence.
    reason: str
    min: int
    #: Most contexts that it wants; None for no limit.
    max: Optional[int]
    weight: float
    #: Speedup over one context, as far as known.
    speedup: Optional[float]
    runtimes: Tuple[Runtime, ...]


@dataclass(frozen=True)
class Status:
    """The state of everything at one moment. `print(scaf.status())` shows it as a table."""

    #: "system" or "session".
    scope: str
    policy: str
    #: Contexts that can be given away now: CPUs and quota less what unmanaged programs use.
    capacity: int
    unmanaged_load: float
    programs: Tuple[Program, ...]
    #: All that the daemon tells, as `scaf ps --json` prints it.
    raw: Dict[str, Any] = field(repr=False, compare=False)

    @property
    def me(self) -> Optional[Program]:
        """This process; None if it isn't managed."""
        if "asker" not in self.raw:  # a daemon of a version before 0.3
            return next((program for program in self.programs if program.pid == os.getpid()), None)
        # In a container this process has a process id that the daemon doesn't know.
        both = zip(self.programs, self.raw["programs"])
        return next((program for program, raw in both if raw["id"] == self.raw["asker"]), None)

    def __str__(self) -> str:
        head = (
            f"{self.scope} daemon, policy {self.policy}: {self.capacity} contexts to give away, "
            f"{self.unmanaged_load:.1f} used by others"
        )
        rows = [("PROGRAM", "PID", "CONTEXTS", "HOW", "SPEEDUP")]
        for program in self.programs:
            had = "alone" if program.contexts is None else f"{program.contexts}/{program.natural}"
            speedup = "-" if program.speedup is None else f"{program.speedup:.2f}"
            rows.append((program.name, str(program.pid), had, program.mechanism, speedup))
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([head, *lines])


def status() -> Status:
    """Asks the daemon about everything that this user may see. Takes about a millisecond.

    Raises NoDaemon.
    """
    raw = _daemon.ask("snapshot", "snapshot")
    return Status(
        scope=raw["scope"],
        policy=raw["policy"],
        capacity=raw["capacity"],
        unmanaged_load=raw["unmanaged_load"],
        programs=tuple(_program(program) for program in raw["programs"]),
        raw=raw,
    )


def _program(raw: Dict[str, Any]) -> Program:
    return Program(
        name=raw["name"],
        pid=raw["pid"],
        contexts=raw["dop"],
        natural=raw["natural"],
        mechanism=raw["mechanism"],
        reason=raw["reason"],
        min=raw["min"],
        max=raw["max"] or None,
        weight=raw["weight"],
        speedup=raw["speedup"],
        runtimes=tuple(
            Runtime(runtime["name"], runtime["file"], runtime["threads"], runtime["most"])
            for runtime in raw.get("runtimes", ())
        ),
    )
