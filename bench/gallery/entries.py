"""The programs of the gallery: a file each in programs/, read and checked for what it has to have.

description          what runs, in some words
managed_as_expected  how scaf should manage it, as far as anybody knows; free text
install              packages: apt, pip and cargo (into build/gallery), maven (group:artifact:version)
files                small files of its own, by name; they come into $DATA
prepare              shell, once, in $DATA: makes what the program reads
command              shell, in an empty folder each time; $DATA, $INPUTS (makes inputs), python (our own)
keep                 what has to stay the same, one of
                       output = true    all of its standard output
                       lines = REGEX    what this finds there; its groups, where it has some
                       file = NAME      a file that it writes, bit for bit
                       text = NAME      a file of text that it writes
                       after = SHELL    what this prints after each run
                     and tolerance, by how much numbers may differ, relative; not for `file`
limit_s              longest run; 120 where nothing is said
"""

import pathlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
KEYS = {"description": str, "managed_as_expected": str, "install": dict, "files": dict, "prepare": str,
        "command": str, "keep": dict, "limit_s": (int, float)}
NEEDED = ("description", "command", "keep")
INSTALL = {"apt", "pip", "cargo", "maven"}
KEEP = {"output": bool, "lines": str, "file": str, "text": str, "after": str}


def load(folder=HERE / "programs"):
    """All programs by name, in order; what can't be parsed is a text that says so."""
    found = {}
    for file in sorted(folder.glob("*.toml")):
        try:
            found[file.stem] = tomllib.loads(file.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            found[file.stem] = str(error)
    return found


def faults(programs):
    """What is wrong with them, a line each; nothing is installed for that."""
    for name, program in programs.items():
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
            yield f"{name}: names are small letters, digits and dashes"
        said = [program] if isinstance(program, str) else wrong(program)
        yield from (f"{name}: {fault}" for fault in said)


def wrong(program):
    for key, value in program.items():
        if key not in KEYS:
            yield f"there is no key {key}"
        elif not isinstance(value, KEYS[key]):
            yield f"{key} is of the wrong kind"
    for key in NEEDED:
        if not program.get(key):
            yield f"{key} is missing"
    for source, packages in program.get("install", {}).items():
        if source not in INSTALL:
            yield f"nothing is installed from {source}; there are {', '.join(sorted(INSTALL))}"
        elif not isinstance(packages, list) or not all(isinstance(word, str) for word in packages):
            yield f"install.{source} is a list of names"
    for file, text in program.get("files", {}).items():
        if "/" in file or not isinstance(text, str):
            yield f"files: {file} has to be a name with a text"
    yield from wrong_keep(program.get("keep", {}))
    if "://" in str(program):
        yield "packages are named, not addresses"


def wrong_keep(keep):
    kinds = KEEP.keys() & keep.keys()
    if len(kinds) != 1:
        yield f"keep needs one of {', '.join(KEEP)}"
    for key, value in keep.items():
        if key == "tolerance":
            if not isinstance(value, float) or not 0 < value < 1:
                yield "keep.tolerance is a number between 0 and 1"
            elif "file" in keep:
                yield "a file is kept bit for bit: `text` has a tolerance"
        elif key not in KEEP:
            yield f"there is no keep.{key}"
        elif not isinstance(value, KEEP[key]) or not value:
            yield f"keep.{key} is of the wrong kind"
    if isinstance(keep.get("lines"), str):
        try:
            re.compile(keep["lines"])
        except re.error as error:
            yield f"{keep['lines']!r}: {error}"
