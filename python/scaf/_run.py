"""Starts programs under scaf, and is `python -m scaf`: the command `scaf`, which knows Python scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, List, Optional, Sequence, Union

from . import _installed
from .errors import NotInstalled

#: Options of `scaf run` that take a value.
_VALUED = ("--name", "--min", "--max", "--weight")


def run(
    command: Sequence[Union[str, "os.PathLike[str]"]],
    *,
    name: Optional[str] = None,
    min: Optional[int] = None,
    max: Optional[int] = None,
    weight: Optional[float] = None,
    exact: bool = False,
    malleable: bool = False,
    mold: bool = False,
    rigid: bool = False,
    **more: Any,
) -> "subprocess.CompletedProcess[Any]":
    """Runs a program with its share of the machine and waits for its end: `subprocess.run` by `scaf run`.

    `more` goes to `subprocess.run` (`check`, `capture_output`, `cwd`, ...). A daemon is started if there is
    none. Raises NotInstalled where there is no command `scaf`.
    """
    words: List[str] = [str(_installed.command()), "run"]
    for option, value in (("--name", name), ("--min", min), ("--max", max), ("--weight", weight)):
        if value is not None:
            words += [option, str(value)]
    for option, wanted in (
        ("--exact", exact),
        ("--malleable", malleable),
        ("--mold", mold),
        ("--rigid", rigid),
    ):
        if wanted:
            words.append(option)
    return subprocess.run([*words, "--", *command], **more)


def with_python(words: List[str]) -> List[str]:
    """The arguments of `scaf run` with this Python before a script, or before its options -m and -c."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("--", "-m", "-c"):
        at += 2 if words[at] in _VALUED else 1
    options, program = words[:at], words[at:]
    if program[:1] == ["--"]:
        program = program[1:]
    if program and (program[0] in ("-m", "-c") or program[0].endswith((".py", ".pyz"))):
        program = [sys.executable, *program]
    return [*options, "--", *program] if program else options


def main(words: List[str]) -> int:
    """Becomes the command `scaf`; returns only if there is none."""
    try:
        command = str(_installed.command())
    except NotInstalled as error:
        print(f"scaf: {error}", file=sys.stderr)
        return 127
    if words[:1] == ["run"]:
        words = ["run", *with_python(words[1:])]
    os.execv(command, ["scaf", *words])
