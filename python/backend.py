"""Packs the wheel: a PEP 517 backend of its own, for what is packed has been built by scripts/wheel.sh.

`build` on the command line writes the wheel into build/ and prints its path. Every date in it is
SOURCE_DATE_EPOCH, and its files are in one order, so that the same files give the same wheel."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TAG = "py3-none-manylinux_2_28_x86_64"


def table(file: Path) -> Dict[str, Any]:
    # Python 3.11 has it; others get as far as being told how the wheel is built.
    import tomllib

    return tomllib.loads(file.read_text())


def version() -> str:
    """The one version that everything has, as PEP 440 writes it: 0.3.0rc1 for SemVer's 0.3.0-rc.1."""
    number, _, more = str(table(ROOT / "Cargo.toml")["workspace"]["package"]["version"]).partition("-")
    word = {"alpha": "a", "beta": "b", "rc": "rc"}
    if not more:
        return number
    kind, _, count = more.partition(".")
    return f"{number}{word[kind]}{count or 0}"


def metadata() -> str:
    project = table(HERE / "pyproject.toml")["project"]
    lines = ["Metadata-Version: 2.4", "Name: scaf", f"Version: {version()}"]
    lines += [f"Summary: {project['description']}"]
    lines += [f"Project-URL: {name}, {url}" for name, url in project["urls"].items()]
    lines += [f"Requires-Python: {project['requires-python']}", f"License-Expression: {project['license']}"]
    lines += [f"License-File: {name}" for name in licences()]
    lines += [f"Keywords: {','.join(project['keywords'])}"]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    lines += ["Description-Content-Type: text/markdown", "", readme()]
    return "\n".join(lines)


def readme() -> str:
    """The page for Python users. Its links lead out of the wheel, into the repository."""
    url = table(ROOT / "Cargo.toml")["workspace"]["package"]["repository"]
    page = ROOT / "docs/guide/python.md"

    def absolute(link: "re.Match[str]") -> str:
        return f"]({url}/blob/main/{(page.parent / link[1]).resolve().relative_to(ROOT)}"

    return re.sub(r"\]\((?!https?:)([a-z._/-]+)", absolute, page.read_text())


def licences() -> Dict[str, Path]:
    """scaf's, hwloc's, and those of the crates that are linked in."""
    return {
        "LICENSE": ROOT / "LICENSE",
        "hwloc.COPYING": Path(os.environ["SCAF_WHEEL_HWLOC"]),
        "crates.txt": Path(os.environ["SCAF_WHEEL_CRATES"]),
    }


def files() -> Iterator[Tuple[str, bytes, int]]:
    """Path, content and mode of all files but the record."""
    name = f"scaf-{version()}"
    built = Path(os.environ["SCAF_WHEEL_BINARIES"])
    for path in sorted((HERE / "scaf").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"scaf/{path.name}", path.read_bytes(), 0o644
    for command in ("scaf", "scafd"):
        yield f"{name}.data/scripts/{command}", (built / command).read_bytes(), 0o755
    # Where the commands look for it, relative to themselves.
    yield f"{name}.data/data/lib/scaf/libscaf.so", (built / "libscaf.so").read_bytes(), 0o755
    verdicts = (ROOT / "packaging/verdicts.toml").read_bytes()
    yield f"{name}.data/data/lib/scaf/verdicts.toml", verdicts, 0o644
    yield f"{name}.data/data/include/scaf.h", (ROOT / "include/scaf.h").read_bytes(), 0o644
    about = f"{name}.dist-info"
    yield f"{about}/METADATA", metadata().encode(), 0o644
    wheel = f"Wheel-Version: 1.0\nGenerator: scaf\nRoot-Is-Purelib: false\nTag: {TAG}\n"
    yield f"{about}/WHEEL", wheel.encode(), 0o644
    for licence, path in licences().items():
        yield f"{about}/licenses/{licence}", path.read_bytes(), 0o644


def build_wheel(folder: str, config: Optional[Dict[str, Any]] = None, about: Optional[str] = None) -> str:
    """PEP 517's hook; the wheel's name."""
    if "SCAF_WHEEL_BINARIES" not in os.environ:
        raise SystemExit("scaf's commands have to be built first: run `make wheel` in the checkout")
    name = f"scaf-{version()}-{TAG}.whl"
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    record: List[str] = []
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(path: str, content: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)

        for path, content, mode in files():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")
            add(path, content, mode)
        place = f"scaf-{version()}.dist-info/RECORD"
        add(place, "".join(f"{line}\n" for line in [*record, f"{place},,"]).encode(), 0o644)
    return name


if __name__ == "__main__" and sys.argv[1:] == ["build"]:
    print(f"build/{build_wheel(str(ROOT / 'build'))}")
