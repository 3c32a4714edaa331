"""How many CPUs this process may use: by its affinity, and by the CPU quotas of its control groups."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Iterator, Optional


def usable() -> int:
    """CPUs that the process may use now, at least 1."""
    count = len(os.sched_getaffinity(0))
    return max(1, min([count, *(math.ceil(quota) for quota in _quotas())]))


def _quotas(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> Iterator[float]:
    """The quotas of all groups that the process is in, in CPUs."""
    try:
        lines = proc.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = root / controllers if controllers else root
        group = top / path.lstrip("/")
        # In a container the path may be the host's, of which only the root is seen.
        while top == group or top in group.parents:
            quota = _version_1(group) if controllers else _version_2(group)
            if quota is not None:
                yield quota
            group = group.parent


def _version_2(group: Path) -> Optional[float]:
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _version_1(group: Path) -> Optional[float]:
    try:
        quota = int((group / "cpu.cfs_quota_us").read_text())
        return quota / int((group / "cpu.cfs_period_us").read_text()) if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
