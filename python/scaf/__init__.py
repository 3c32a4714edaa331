"""scaf: several multi-threaded programs on one machine, each on its own share of it.

    scaf.share()                    contexts (hardware threads) that this process may use now
    with scaf.pool() as pool:       threads that follow the share: a concurrent.futures executor
    with scaf.limit(max=2):         less, more or more weight for a while
    with scaf.exact():              every bit of the results as without scaf
    scaf.run(["./prog", "arg"])     a program with its own share
    print(scaf.status())            who has what

Programs are managed that were started by `scaf run -- python script.py` or `python -m scaf run script.py`. In
others all this does no harm, and says what it can't do. docs/guide/python.md has more.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

from ._pool import Pool
from ._run import run
from ._setters import LimitsOnly
from ._share import Limit, exact, limit, managed, share
from ._status import Program, Runtime, Status, status
from .errors import Error, NoDaemon, NotInstalled, NotManaged

try:
    __version__ = importlib.metadata.version("scaf")
except importlib.metadata.PackageNotFoundError:
    __version__ = "0+checkout"

#: An executor that follows the share.
pool = Pool

__all__ = [
    "Error",
    "Limit",
    "LimitsOnly",
    "NoDaemon",
    "NotInstalled",
    "NotManaged",
    "Pool",
    "Program",
    "Runtime",
    "Status",
    "exact",
    "limit",
    "managed",
    "pool",
    "run",
    "share",
    "status",
]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext scaf`"""
    from . import _notebook

    _notebook.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext scaf`"""
    from . import _notebook

    _notebook.unload(shell)
