"""Looks for programs that scaf makes wrong, among generated ones (generate.py).

hunt.py [--first SEED] [--count N]   tries so many seeds: 1 and 300 where nothing is said
        [--jobs N]                   so many at a time; three for each PU where nothing is said: most of the
                                     time they wait
        [--warm MS]                  each has harmless regions first for so long, in which its code is
                                     inspected; 150 where nothing is said
        [--scaf FOLDER]              where scaf, scafd and libscaf.so are; else target/release
        [--keep FOLDER]              shrinks what fails and keeps it there; build/hunt where nothing is said
        [--newer NAME=PATH]          another compiler in place of gcc, g++, clang, clang++ or gfortran
        [--compiles]                 only compiles a program for each part of the generator and each compiler
                                     that can have it, and runs it plain five times
        [--plain]                    the same with the programs of the seeds

First it looks at the generator (check.py). Each program runs plain, twice; what differs then is left out.
Then it runs on one context beside another program, with teams that keep their sizes (gathered or folded) as
well, and under chaos. Output and exit status have to be the same. The exit status is 1 if one wasn't, or if
the generator isn't as it should be.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench" / "corpus"))

import check
import generate
from house import House

PATIENCE_S = 20
HUNG = ("hung",)
# How it is run: the policy of the daemon, and the options of `scaf run`.
WAYS = {"narrow": ("equi", ["--max", "1"]),
        "exact": ("equi", ["--max", "1", "--exact"]), "chaos": ("chaos", [])}


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=3 * len(os.sched_getaffinity(0)))
    parser.add_argument("--warm", type=int, default=150)
    parser.add_argument("--scaf", default=str(HERE.parents[1] / "target" / "release"))
    parser.add_argument("--keep", type=pathlib.Path, default=HERE.parents[1] / "build" / "hunt")
    parser.add_argument("--newer", action="append", default=[])
    parser.add_argument("--compiles", action="store_true")
    parser.add_argument("--plain", action="store_true")
    args = parser.parse_args()
    for words in args.newer:
        name, path = words.split("=", 1)
        generate.COMPILERS[name][1][0] = path
    for complaint in (complaints := check.complaints()):
        print(f"the generator: {complaint}", flush=True)
    seeds = range(args.first, args.first + args.count)
    if args.compiles or args.plain:
        choices = check.each_part() if args.compiles else map(generate.choose, seeds)
        sys.exit(bool(complaints) | alone(choices, args.jobs))
    House.binaries = os.path.abspath(args.scaf)
    warm = {"WARM_MS": str(args.warm)}
    counts, failed = collections.Counter(), []
    with House("equi") as equi, House("chaos", "--seed=1") as chaos, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        houses = {"equi": equi, "chaos": chaos}
        equi.env.update(warm)
        chaos.env.update(warm)
        for choice, found in pool.map(lambda seed: attempt(generate.choose(seed), houses), seeds):
            counts[found["is"]] += 1
            if choice["pure"] and "resizable" in found:
                by = f"pure, {choice['compiler']} {choice['level']}"
                counts[by] += 1
                counts[f"{by}, resizable"] += found["resizable"]
            if found["is"] == "different":
                failed.append((choice, found))
                say(choice, found)
            elif found["is"] != "same":
                print(f"{choice['seed']}: {found['is']}: {found.get('why', '')}", flush=True)
        for choice, found in failed:
            keep(args.keep, *shrink(choice, found, houses))
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    sys.exit(bool(failed or complaints))


def alone(choices, jobs):
    """Compiles programs and runs them without scaf; whether that went wrong."""
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for choice, found in pool.map(lambda choice: attempt(choice, None, again=4), choices):
            counts[found["is"]] += 1
            if found["is"] != "same":
                print(json.dumps(choice), found["is"], found.get("why", ""), flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    return counts.total() != counts["same"]


def attempt(choice, houses, again=2):
    """A program and what was found: `same`, `different` (where, and what it should be), or why not tried."""
    with tempfile.TemporaryDirectory(prefix="scaf-hunt-") as folder:
        if choice["what"] is None:
            return choice, {"is": "nothing fits"}
        to, why = check.compile_(choice, folder)
        if why is not None:
            return choice, {"is": "not compiled", "why": why}
        plain = run(choice, [to], dict(os.environ))
        if plain == HUNG or any(run(choice, [to], dict(os.environ)) != plain for _ in range(again)):
            return choice, {"is": "not deterministic"}
        found = {"is": "same"}
        if houses is None:
            return choice, found
        if choice["pure"]:
            found["resizable"] = House.doctor(to)["facts"]["resizable"]["resizable"] == "yes"
        for way, (policy, options) in WAYS.items():
            house = houses[policy]
            got = run(choice, [*house.managed(*options), to], house.env)
            if got != plain:
                return choice, found | {"is": "different", "where": way, "plain": plain, "got": got}
        return choice, found


def run(choice, words, env):
    env = dict(env, OMP_NUM_THREADS=str(choice["threads"]), **choice["settings"])
    child = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        out, _ = child.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return HUNG
    return child.returncode, out.decode(errors="replace")


def shrink(choice, found, houses):
    """The simplest choice of parts that fails as well."""
    for part, simplest in generate.SIMPLEST.items():
        if choice.get(part, simplest) == simplest or (part == "compiler" and choice["language"] != "c"):
            continue
        simpler, again = attempt(choice | {part: simplest}, houses)
        if again["is"] == "different":
            choice, found = simpler, again
    return choice, found


def say(choice, found):
    what = " ".join(str(choice[part]) for part in ("way", "what", "frame", "out", "clause") if choice[part])
    print(f"{choice['seed']}: {choice['compiler']} {choice['level']} {what}: {found['where']}:"
          f" {found['plain']} became {found['got']}", flush=True)


def keep(folder, choice, found):
    folder.mkdir(parents=True, exist_ok=True)
    mark = "!" if choice["language"] == "fortran" else "//"
    text = f"{mark} {json.dumps(choice)}\n{mark} {json.dumps(found)}\n{generate.source(choice)}"
    (folder / f"{choice['seed']}{generate.SUFFIX[choice['language']]}").write_text(text)
    say(choice, found)


if __name__ == "__main__":
    main()
