#!/usr/bin/env python3
"""Checks that imports go downwards and never in a circle: among a crate's files, its folders, and all crates.

A file imports the file that defines what it names, in a `use` or in a path such as `super::x::f`. A name
that a module re-exports belongs to the file that defines it; `mod x;` and `pub use x::Y;` import nothing.
Comments, strings and tests are left out. The code is taken to be formatted by rustfmt.
"""
import pathlib, re, sys, tempfile, tomllib
from collections import defaultdict

# Floors from the top; nobody imports from a floor above. A key is "crates", a crate, or a folder of a crate
# ("libscaf/region"), and every module directly below it has a floor.
FLOORS = {
    "crates": "scaf-lab > scaf > scafd scaf-sim libscaf > scaf-inspect scaf-memory scaf-topology scaf-team"
              " > scaf-functions scaf-policy scaf-proto",
    "libscaf": "entry > region > program > link > runtimes > sys",
}
TESTS = re.compile(r"(^|[_/])tests(/|\.rs$)")
TEST = re.compile(r"^( *)#\[cfg\(test\)\]\n(?:\1(?:#\[|///).*\n)*\1(?:.*[;,}]$|(?:.*\n)+?\1\}.*$)", re.M)
TOKEN = re.compile(r"""(?P<skip>//[^\n]*|/\*.*?\*/|[bc]?r(\#*)".*?"\2|[bc]?"(?:\\.|[^"\\])*"|\s+
    |b?'(?:\\.[^']*|[^\\'])'|'\w+)|(?:r\#)?[A-Za-z_]\w*|::|.""", re.S | re.X)
NAME, BRACES, OUTSIDE = re.compile(r"[A-Za-z_]"), re.compile(r"([^,{}]*)\{([^{}]*)\}"), "outside"
ITEMS = ("fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules")


def use_paths(words):
    """The (name, path) pairs that a `use` of these words brings."""
    text = "".join(" as " if word == "as" else word for word in words)
    while "{" in text:  # a::{b, c} becomes a::b, a::c
        text = re.sub(BRACES, lambda m: ",".join(m[1] + part for part in m[2].split(",") if part), text)
    for part in text.split(","):
        path, _, name = part.removeprefix("::").partition(" as ")
        path = tuple(path.removesuffix("::self").split("::"))
        yield name or path[-1], path


class Crate:
    """A crate's module tree, and its arrows: who imports whom (two modules), and that in words."""

    def __init__(self, src):
        self.file, self.defines, self.uses = {}, defaultdict(set), defaultdict(dict)  # by module: a tuple
        self.module, self.mentions, self.arrows = {}, [], {}
        for path in sorted(p for p in src.rglob("*.rs") if not TESTS.search(str(p.relative_to(src)))):
            file, module = str(path.relative_to(src)), path.relative_to(src).with_suffix("").parts
            module = module[:-1] if module[-1] in ("mod", "lib") else module
            self.file[module], self.module[file] = file, module
            self.read(module, TEST.sub(lambda m: "\n" * m[0].count("\n"), path.read_text()))
        for mention in self.mentions:
            self.follow(*mention)

    def read(self, module, text):
        """Notes what the modules of a file define, use and mention."""
        tokens = [(m[0], m.start()) for m in TOKEN.finditer(text) if not m["skip"]]
        words, file, depth, inline, i = [t for t, _ in tokens] + [""] * 3, self.file[module], 0, [], 0
        while i < len(tokens):
            word, line, before = words[i], text.count("\n", 0, tokens[i][1]) + 1, words[i - 1] if i else ""
            i, depth = i + 1, depth + (word == "{") - (word == "}")
            if word == "}" and inline and depth == inline[-1]:
                inline, module = inline[:-1], module[:-1]
            elif word == "mod" and words[i + 1] == "{":
                inline, module = inline + [depth], module + (words[i],)
                self.file[module] = file
            elif word in ITEMS and depth == len(inline):
                self.defines[module].add(words[i + 1] if words[i] in ("!", "mut", "fn") else words[i])
            elif word == "use" and words[i] not in ("<", "$"):
                public = before == "pub" or before == ")" and "pub" in words[i - 6:i]
                start, i = i, words.index(";", i)
                for name, path in use_paths(words[start:i]):
                    self.uses[module].setdefault("".join(path) if name == "*" else name, path)
                    self.mentions.append((module, path, line, public))
            elif NAME.match(word) and before not in ("::", ".", "fn") and (before != "$" or word == "crate"):
                path = (word,)
                while words[i] == "::" and NAME.match(words[i + 1]):
                    path, i = path + (words[i + 1],), i + 2
                if path[1:] or words[i] in ("(", "!") or word[0].isupper():
                    self.mentions.append((module, path, line, False))

    def find(self, at, path, seen=frozenset()):
        """What a path means in module `at`: a module (a tuple), a file (a string), OUTSIDE or None."""
        whole = path
        while path and path[0] in ("crate", "self", "super"):
            at, path = {"crate": (), "self": at, "super": at[:-1]}[path[0]], path[1:]
        while path and isinstance(at, tuple):
            unknown = None if path is whole else self.file.get(at)
            at, path = self.look(at, path[0], bool(path[1:]), seen) or unknown, path[1:]
        return at

    def look(self, module, name, more, seen):
        """What a name means in a module. Where more follows it, a child module goes first."""
        child = module + (name,) if module + (name,) in self.file else None
        if child and more or name == "*":
            return child
        if name in self.defines[module]:
            return self.file[module]
        if name in self.uses[module] and (module, name) not in seen:
            return self.find(module, self.uses[module][name], seen | {(module, name)}) or OUTSIDE
        globs = [p[:-1] for p in self.uses[module].values() if p[-1] == "*"]
        for target in [] if (module, "*") in seen else globs:
            found, seen = self.find(module, target, seen | {(module, "*")}), seen | {(module, "*")}
            child = child or isinstance(found, tuple) and self.look(found, name, more, seen) or None
        return child

    def follow(self, module, path, line, public):
        """Makes a mention an arrow, if it is one."""
        here, found = self.file[module], self.find(module, path[:-1] if path[-1] == "*" else path)
        found = self.file.get(found, found) if path[-1] == "*" else found
        if isinstance(found, str) and found not in (here, OUTSIDE):
            told = f"  {here}:{line} imports {found} ({'::'.join(path)})"
            if not (public and self.module[found][:len(module)] == module):
                self.arrows.setdefault((self.module[here], self.module[found]), told)


def circles(graph):
    """The sets of nodes that reach each other, given each node's neighbours."""
    reach = {node: set(graph[node]) for node in graph}
    for via in reach:
        for node in reach:
            reach[node] |= reach[via] if via in reach[node] else set()
    return {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in reach if a in reach[a]}


def check_floors(key, order, nodes, arrows):
    """What is against an order of floors, as messages."""
    floor = {node: n for n, names in enumerate(order.split(">")) for node in names.split()}
    for node in sorted(set(nodes) - set(floor)):
        yield f"{key}: {node} has no floor in scripts/layers.py"
    for a, b, told in arrows:
        if floor.get(a, -1) > floor.get(b, 999):
            yield f"{key}: upwards, against {order}:\n{told}"


def check_crate(crate, name, floors):
    """What is wrong in a crate, as messages."""
    graphs = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for (a, b), told in crate.arrows.items():
        graphs["files"][a][b].append(told)
        if fork := [n for n, (x, y) in enumerate(zip(a, b)) if x != y]:
            a, b, above = a[:fork[0] + 1], b[:fork[0] + 1], "/".join((name,) + a[:fork[0]])
            graphs[f"folders below {above}"][a][b].append(told)
    folders = {module[:n] for module in crate.module.values() for n in range(len(module))}
    for kind, graph in graphs.items():
        for ring in sorted(circles(graph), key=sorted):
            told = [t for a in ring for b, lines in graph[a].items() if b in ring for t in lines]
            if kind == "files" or ring & folders:
                yield f"{name}: {len(ring)} {kind} in a circle:\n" + "\n".join(sorted(told))
    for key in [k for k in floors if k.split("/")[0] == name]:
        top = tuple(key.split("/")[1:])
        below = {m: m[len(top)] for m in crate.module.values() if m[:len(top)] == top != m}
        arrows = [(below.get(a), below.get(b), told) for (a, b), told in crate.arrows.items()]
        yield from check_floors(key, floors[key], below.values(), arrows)


def check(root, floors):
    """What is wrong in the tree, as messages."""
    manifests, arrows = sorted(root.glob("crates/*/Cargo.toml")), []
    for path in manifests:
        name, manifest = path.parent.name, tomllib.loads(path.read_text())
        yield from check_crate(Crate(path.parent / "src"), name, floors)
        for table in [manifest, *manifest.get("target", {}).values()]:
            others = [other for key in table if key.endswith("dependencies") for other in table[key]]
            arrows += [(name, other, f"  {name} depends on {other}") for other in others]
    yield from check_floors("crates", floors["crates"], [path.parent.name for path in manifests], arrows)


CLEAN = {
    "../Cargo.toml": "", "a/z_tests.rs": "use crate::b::f;\n", "a/w.rs": "use super::Y;\npub struct W;\n",
    "lib.rs": "mod a;\nmod b;\nmod c;\npub use a::{Y, z::Z as Zed};\npub use std::mem;\nfn g() { c::m!() }\n",
    "a/mod.rs": "mod w;\nmod z;\npub use {w::W, z::Z};\nstruct Y(Z);\n// b::f()\nfn g() { crate::mem }\n"
                "#[cfg(test)]\nmod tests {\n    use crate::b::*;\n    fn t() {}\n}\n",
    "a/z.rs": "/// [`crate::b::f`]\nuse crate::b::{self as d};\npub struct Z;\n#[cfg(test)]\nuse super::Y;\n",
    "b.rs": "use crate::{\n    Y,\n    Zed as Q,\n};\npub fn f() { r#\"\" crate::c::f()\"#; \"c::f\" }\n",
    "c.rs": "macro_rules! m {\n    () => {\n        $crate::b::f()\n    };\n}\npub(crate) use m;\n",
}
FAULTS = {  # what is said: the file at fault, and what it has besides
    "a/mod.rs:12 imports b.rs": ("a/mod.rs", "use crate::{\n    c,\n    b::{self as d, f as e},\n};\n"),
    "b.rs:1 imports a/mod.rs": ("a/mod.rs", "macro_rules! x {\n    () => { crate::b::f() };\n}\n"),
    "c.rs:3 imports b.rs": ("a/mod.rs", "mod i {\n    fn h() { super::super::c::m!() }\n}\n"),
    "t: 2 files in a circle": ("a/z.rs", "use super::Y;\n"), "t: d has no floor": ("d.rs", ""),
    "folders below t in a circle": ("a/w.rs", "use crate::b;\nfn g() { b::f() }\n"),
    "t: upwards": ("b.rs", "use crate::c::m;\n"), "crates: upwards": ("../Cargo.toml", "dependencies.u=1\n"),
    "": ("c.rs", "mod i {\n    use crate::a;\n    fn g() { a::z::g() }\n}\n"),
}


def self_test():
    """Puts one fault after the other into a clean tree."""
    for expected, (file, added) in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            src = pathlib.Path(folder, "crates/t/src")
            (src / "a").mkdir(parents=True)
            for path, text in {**CLEAN, file: CLEAN.get(file, "") + added}.items():
                (src / path).write_text(text)
            found = "\n".join(check(pathlib.Path(folder), {"crates": "u > t", "t": "c > b > a"}))
        assert expected in found and bool(expected) == bool(found), f"{expected!r} in {found!r}"


if __name__ == "__main__":
    wrong = check(pathlib.Path(__file__).parent.parent, FLOORS)
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else "\n\n".join(wrong) or 0)
