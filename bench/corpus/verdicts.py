"""Tests what people install, and writes what is shown of it to packaging/verdicts.toml, by build-id.

verdicts.py [NAME...]   tests these, or all: programs of installed.toml, and suites of bench/real/suite.py
  --runs N              runs of each program with each number of threads, and of each suite; 20
  --scaf FOLDER         where scaf, scafd and libscaf.so are; target/release where nothing is said

A program of Debian's is taken from the system, else from its package, which is unpacked below build/corpus.
It is tested by `scaf check` with 2, 3 and 4 threads, on the input that the corpus has for it.
A suite is run plain and, as often as said, with teams resized at random: each test has to come to the same.
That says something of a library if teams of a region of its had sizes that they don't have by themselves.
LightGBM and KMeans have none, because clauses fix their sizes.

What was tested before and isn't now stays in the file, as builds of its own. The exit status is 1 if
something came out differently; what was said of that build is then taken out.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib

import fetch
import recipes
from house import House

ROOT = recipes.HERE.parents[1]
FILE = ROOT / "packaging" / "verdicts.toml"
SUITE = ROOT / "bench" / "real" / "suite.py"
HEAD = """\
# What was shown of programs and libraries, by their build-ids: that they compute the same with teams of
# any size. A daemon takes it in place of its code analysis; another build isn't shown. Written by
# scripts/verdicts.sh; docs/guide/run.md says what it means.
"""
THREADS = (2, 3, 4)
SUITE_THREADS = "4"
KEYS = ("name", "version", "resizable", "date", "runs", "evidence")


class Different(Exception):
    """What came out differently."""


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--scaf", default=str(ROOT / "target" / "release"))
    args = parser.parse_args()
    House.binaries = os.path.abspath(args.scaf)
    programs = tomllib.loads((recipes.HERE / "installed.toml").read_text())
    suites = subprocess.run([python(), SUITE, "--list"], capture_output=True, text=True).stdout.split()
    wrong = [name for name in args.names if name not in programs and name not in suites]
    if wrong:
        sys.exit(f"verdicts: there is no {wrong[0]}; there are {' '.join([*programs, *suites])}")
    failed = False
    for name in args.names or [*programs, *suites]:
        try:
            found = program(name, programs[name], args.runs) if name in programs else suite(name, args.runs)
        except fetch.Failed as why:
            print(f"{name}: left out: {why}", flush=True)
            continue
        except Different as what:
            print(f"{name}: DIFFERENT: {what}", flush=True)
            failed = True
            continue
        for one in found:
            keep(one)
            print(f"{name}: {one['name']} of {one['version']}, {one['runs']} runs", flush=True)
    sys.exit(failed)


def python():
    return os.environ.get("SCAF_TEST_PYTHON", str(ROOT / ".venv" / "bin" / "python"))


# Programs.

def program(name, entry, runs):
    """What `scaf check` shows of a program."""
    recipe = recipes.load()[entry["recipe"]] if "recipe" in entry else entry
    path, version = installed(entry)
    file = build_id(path)
    total, compared = 0, []
    for threads in THREADS:
        folder = fetch.given(f"installed-{name}", recipe, str(threads))
        words = [word.replace("$PROGRAM", str(path)).replace("$THREADS", str(threads))
                 for word in shlex.split(recipe["run"])]
        counted = check(words, recipe, folder, threads, runs, file)
        if counted:
            total += counted
            compared.append(str(threads))
    if not total:
        raise fetch.Failed("its teams never had several sizes")
    shown = shlex.join(shlex.split(recipe["run"])).replace("'$PROGRAM'", path.name)
    shown = shown.replace("$PROGRAM", path.name).replace("'$THREADS'", "N").replace("$THREADS", "N")
    evidence = f"scaf check {shown}, with {', '.join(compared)} threads, on the input of bench/corpus"
    return [{"executable": file, "name": path.name, "version": version, "resizable": True,
             "date": str(datetime.date.today()), "runs": total, "evidence": evidence}]


def installed(entry):
    """The program, and of which version it is."""
    package, path = entry["package"], pathlib.Path(entry["program"])
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    status, _, version = subprocess.run(query, capture_output=True, text=True).stdout.partition(" ")
    if status != "installed":
        folder, log = fetch.ROOT / "installed" / package, fetch.ROOT / "log" / f"{package}.log"
        if not folder.exists():
            archives = fetch.ROOT / "packages" / package
            archives.mkdir(parents=True, exist_ok=True)
            fetch.apt(log, False, "download", package, cwd=archives)
            folder.parent.mkdir(parents=True, exist_ok=True)
            fetch.call(["dpkg-deb", "-x", fetch.only(archives, "*.deb"), folder], log)
        archive = fetch.only(fetch.ROOT / "packages" / package, "*.deb")
        field = ["dpkg-deb", "-f", archive, "Version"]
        version = subprocess.run(field, capture_output=True, text=True, check=True).stdout.strip()
        path = folder / path.relative_to("/")
    if not path.is_file():
        raise fetch.Failed(f"{package} has no {entry['program']}")
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines())
    return path.resolve(), f"Debian {release['VERSION_ID'].strip(chr(34))}, {package} {version}"


def check(words, recipe, folder, threads, runs, file):
    """Runs of `scaf check` in which teams of that file had several sizes."""
    if recipe.get("silent"):
        words = ["sh", "-c", 'exec "$@" >/dev/null', "sh", *words]
    elif recipe.get("sort"):
        words = ["sh", "-c", '"$@" | sort', "sh", *words]
    options = ["--runs", str(runs)]
    for pattern in recipe.get("drop", []):
        for text in pattern.split("|"):
            if set(text) & set(r"^$.*+?[](){}\\"):
                raise fetch.Failed(f"scaf check leaves out lines by words, not by {pattern!r}")
            options += ["--ignore", text]
    for output in recipe.get("output", []):
        options += ["--output", output]
    with tempfile.TemporaryDirectory(prefix="scaf-verdicts-") as memory:
        ours = ("OMP_", "GOMP_", "KMP_", "SCAF_")
        env = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        env |= {key: memory for key in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        env |= {"SCAF_SOCKET": f"{memory}/none", "OMP_NUM_THREADS": str(threads)}
        scaf = f"{House.binaries}/scaf"
        done = subprocess.run([scaf, "check", *options, *words], cwd=folder, env=env, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 1 and "may not be resized" in done.stdout:
            drop(file)
            raise Different(done.stdout.strip())
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip().splitlines()
            print(f"  with {threads} threads: {' '.join(line.strip() for line in said)[:200]}", flush=True)
            return 0
        export = [scaf, "check", "--export"]
        kept = subprocess.run(export, env=env, capture_output=True, text=True, check=True)
        found = tomllib.loads(kept.stdout).get("verdict", [])
        return sum(one["runs"] for one in found if one["executable"] == file)


def build_id(path):
    said = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    ids = [line.split()[-1] for line in said.splitlines() if "Build ID" in line]
    if not ids:
        raise fetch.Failed(f"{path} has no build-id")
    return ids[0]


# Libraries of wheels, by their own tests.

def suite(name, runs):
    """What a suite of tests shows of the libraries that it uses."""
    words = [python(), str(SUITE), name]
    plain = outcomes(words, dict(os.environ, OMP_NUM_THREADS=SUITE_THREADS))
    if not plain:
        raise fetch.Failed("nothing ran")
    with House("equi") as house:
        env = dict(house.env, OMP_NUM_THREADS=SUITE_THREADS)
        outcomes([*house.managed("--exact"), *words], env)
        own = teams(env)
    counts, files = collections.Counter(), libraries()
    for seed in range(1, runs + 1):
        with House("chaos", f"--seed={seed}") as house:
            env = dict(house.env, OMP_NUM_THREADS=SUITE_THREADS, SCAF_MALLEABLE="check")
            again = outcomes([*house.managed(), *words], env)
            resized = {region[0] for region, sizes in teams(env).items()
                       if region in own and sizes - own[region]}
        if again != plain:
            for file in resized:
                drop(file)
            raise Different(f"seed {seed}: {sorted(set(plain.items()) ^ set(again.items()))[:3]}")
        counts.update(resized & files.keys())
    found = []
    for file, count in counts.items():
        path, version = files[file]
        evidence = f"the tests {name} of bench/real/suite.py, with {SUITE_THREADS} threads"
        found.append({"library": file, "name": path.name, "version": version, "resizable": True,
                      "date": str(datetime.date.today()), "runs": count, "evidence": evidence})
    if not found:
        raise fetch.Failed("no library's teams had several sizes")
    return found


def outcomes(words, env):
    """What became of each test."""
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return {test: outcome for outcome, _, test in
            (line.partition(" ") for line in done.stdout.splitlines())}


def teams(env):
    """The sizes that each region's teams had; a region is a file's build-id and an address in it."""
    words = [f"{House.binaries}/scaf", "profile", "export", "--format", "json"]
    said = subprocess.run(words, env=env, capture_output=True, text=True)
    found = {}
    for profile in json.loads(said.stdout or "{}").get("profiles", []):
        for region in profile["regions"]:
            dops = {point["dop"] for point in region["points"]}
            found.setdefault((region["module"], region["address"]), set()).update(dops)
    return found


def libraries():
    """The files of installed wheels by their build-ids, each with its wheel's name and version."""
    code = ("import importlib.metadata as m, json; print(json.dumps([[d.name, d.version, str(f.locate())]"
            " for d in m.distributions() for f in d.files or [] if '.so' in f.name]))")
    said = subprocess.run([python(), "-c", code], capture_output=True, text=True, check=True).stdout
    found = {}
    for wheel, version, path in json.loads(said):
        path = pathlib.Path(path)
        if path.is_file():
            try:
                found[build_id(path)] = (path, f"PyPI, {wheel} {version}")
            except fetch.Failed:
                continue
    return found


# The file.

def verdicts():
    known = tomllib.loads(FILE.read_text()).get("verdict", []) if FILE.exists() else []
    return {one.get("executable") or one.get("library"): one for one in known}


def keep(one):
    write(verdicts() | {one.get("executable") or one.get("library"): one})


def drop(file):
    write({known: one for known, one in verdicts().items() if known != file})


def write(known):
    text = HEAD
    for one in sorted(known.values(), key=lambda one: (one["name"], one["version"])):
        kind = "library" if "library" in one else "executable"
        text += f"\n[[verdict]]\n{kind} = {json.dumps(one[kind])}\n"
        text += "".join(f"{key} = {value(one[key])}\n" for key in KEYS)
    FILE.write_text(text)


def value(it):
    """As TOML, in short lines."""
    plain = json.dumps(it)
    if len(plain) < 95:
        return plain
    lines = textwrap.wrap(plain[1:-1], 100, break_long_words=False, break_on_hyphens=False)
    return '"""\\\n    ' + " \\\n    ".join(lines) + '"""'


if __name__ == "__main__":
    main()
