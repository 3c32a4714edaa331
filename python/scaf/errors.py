"""What can go wrong. Each message ends with what to do next."""

from __future__ import annotations

BY_SCAF_RUN = (
    "start the program by `scaf run -- python script.py` or `python -m scaf run script.py`; in a notebook "
    "that runs already, `%load_ext scaf`"
)


class Error(RuntimeError):
    """Anything that scaf can't do."""


class NoDaemon(Error):
    """No daemon answers."""


class NotManaged(Error):
    """This process isn't managed, and what was asked for needs that."""


class NotInstalled(Error):
    """A part of scaf isn't where it is looked for."""
