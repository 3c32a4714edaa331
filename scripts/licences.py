#!/usr/bin/env python3
"""Prints what else is linked into scaf, scafd and libscaf.so, under which licences, and their texts.

Of crates under several licences, to choose from, we take Apache-2.0, which is scaf's own. A licence that
isn't known here is an error: then the package's and the wheel's statements need a look, too.
"""
import json, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = {"scaf", "scafd", "libscaf"}
TARGET = "x86_64-unknown-linux-gnu"
#: In the order in which they are taken where there is a choice.
KNOWN = ["Apache-2.0", "MIT", "Zlib"]
TEXTS = re.compile(r"(licen[cs]e|copying|notice|copyright)", re.I)


def fail(what):
    sys.exit(f"licences: {what}")


def linked():
    """The packages of the graph's normal edges, without what only runs in the compiler."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET]
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        fail("cargo is missing")
    except subprocess.CalledProcessError as error:
        fail(f"cargo metadata failed with {error.returncode}")
    graph = json.loads(done.stdout)
    packages = {package["id"]: package for package in graph["packages"]}
    edges = {node["id"]: node["deps"] for node in graph["resolve"]["nodes"]}
    todo = [one["id"] for one in packages.values() if one["name"] in OURS and one["source"] is None]
    seen = set()
    while todo:
        one = todo.pop()
        if one in seen or any("proc-macro" in target["kind"] for target in packages[one]["targets"]):
            continue
        seen.add(one)
        is_linked = lambda edge: any(kind["kind"] is None for kind in edge["dep_kinds"])
        todo += [edge["pkg"] for edge in edges[one] if is_linked(edge)]
    others = [packages[one] for one in seen if packages[one]["source"] is not None]
    return sorted(others, key=lambda one: (one["name"], one["version"]))


def chosen(package):
    said = package["license"] or ""
    choice = [part.strip() for part in re.split(r"\bOR\b|/", said)]
    taken = next((licence for licence in KNOWN if licence in choice), None)
    return taken or fail(f"{package['name']} {package['version']} is under {said!r}, which isn't known here")


def texts(package, licence):
    """The files of that licence, or all that a package has of notices."""
    folder = pathlib.Path(package["manifest_path"]).parent
    found = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name))
    own = [path for path in found if licence.split("-")[0].lower() in path.name.lower()] or found
    # A shorter one is where a link was.
    read = [path.read_text(encoding="utf-8", errors="replace").strip() for path in own]
    return [text for text in read if len(text) > 200]


def notices(package):
    """What Apache-2.0 wants kept beside its own text."""
    folder = pathlib.Path(package["manifest_path"]).parent
    found = sorted(path for path in folder.iterdir() if path.name.upper().startswith("NOTICE"))
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in found]


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    packages = linked()
    if len(packages) < 10:
        fail("cargo names hardly any crate")
    print("What is linked into scaf, scafd and libscaf.so besides scaf's own code, and its licences.")
    print("Crates that may be used under the Apache License 2.0 are used under it, as scaf itself is.\n")
    for one in packages:
        about = ", ".join(filter(None, [one["license"], one["repository"]]))
        print(f"{one['name']} {one['version']}: {about}")
    print("uPlot 1.6.32 (in the pages of scaf web): MIT, https://github.com/leeoniya/uPlot")
    print("SQLite (where it isn't the system's): public domain, https://sqlite.org")
    by_text = {}
    for one in packages:
        licence, name = chosen(one), f"{one['name']} {one['version']}"
        if licence == "Apache-2.0":
            for text in notices(one):
                by_text.setdefault(text, []).append(name)
            continue
        authors = ", ".join(one["authors"]) or "its authors"
        none = f"{licence}, by {authors}; it comes without the licence's text, which is that of the others."
        for text in texts(one, licence) or [none]:
            by_text.setdefault(text, []).append(name)
    uplot = ROOT / "crates/scaf/src/web/page/uplot/LICENSE"
    by_text.setdefault(uplot.read_text(encoding="utf-8").strip(), []).append("uPlot 1.6.32")
    for text, names in by_text.items():
        print(f"\n{'=' * 80}\n{', '.join(names)}\n\n{text}")


if __name__ == "__main__":
    main()
