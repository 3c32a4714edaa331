"""Where scaf's command and client library are: of the same wheel, of the same checkout, or on PATH."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sysconfig
from pathlib import Path
from typing import Iterator

from .errors import NotInstalled


def command() -> Path:
    """The command `scaf`. That of this module's own installation comes first, for it has the same version.

    Raises NotInstalled.
    """
    for path in _commands():
        if os.access(path, os.X_OK):
            return path
    raise NotInstalled(
        "there is no command `scaf`: install scaf's package or wheel, or build it by `make install` in a "
        "checkout, and have its folder in PATH"
    )


def library() -> Path:
    """libscaf.so: SCAF_LIB, else where the command would take it from.

    Raises NotInstalled.
    """
    named = os.environ.get("SCAF_LIB")
    if named:
        return Path(named)
    folder = command().resolve().parent
    for path in (folder / "libscaf.so", folder.parent / "lib/scaf/libscaf.so"):
        if path.is_file():
            return path
    raise NotInstalled(f"there is no libscaf.so in {folder} or ../lib/scaf: install scaf again")


def _commands() -> Iterator[Path]:
    try:
        for file in importlib.metadata.files("scaf") or ():
            if file.name == "scaf" and file.parent.name == "bin":
                yield Path(str(file.locate()))
    except importlib.metadata.PackageNotFoundError:
        yield Path(__file__).parents[2] / "target/release/scaf"
    yield Path(sysconfig.get_path("scripts")) / "scaf"
    found = shutil.which("scaf")
    if found:
        yield Path(found)
