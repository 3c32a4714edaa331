#!/usr/bin/env python3
"""One PU, two threads promised: what that costs against one thread there.

onepu.py [PROGRAM...]

Each program runs in three ways in turn, all on one PU: with one thread, with two that sleep where they wait
(OMP_WAIT_POLICY=passive), and with two under scaf, whose teams keep their size (`scaf run --exact`), so that
they are gathered. Prints a row a program: seconds as it times itself, medians, and the ratios to one thread,
each of the same round, medians too. RUNS=5 rounds. Needs what `make build` builds, and .venv for the real
programs (scripts/setup.sh).
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

HOME = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HOME / "bench/corpus"))
from house import House  # noqa: E402

KERNELS = "cg ep fib ft is mg phases sort sparselu triad lu_rigid".split()
CLANG = ["clang/cg", "clang/mg", "clang/sparselu"]
REAL = "sklearn_hgb lightgbm_fit xgboost_fit sklearn_kmeans".split()
LEAST_S = 1.5


def words_of(name):
    if name in REAL:
        return [HOME / ".venv/bin/python", HOME / "bench/real" / f"{name}.py"]
    return [HOME / "build/kernels" / name, "--class=W"]


def seconds(words, env, **more):
    done = subprocess.run(words, env=env | more, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["verified"], said
    return said["seconds"]


def measure(name, pu, house, rounds):
    pinned, words, env = ["taskset", "-c", str(pu)], words_of(name), house.env
    if name not in REAL:
        once = seconds(pinned + words, env, OMP_NUM_THREADS="1")
        words.append(f"--repeat={max(1, round(LEAST_S / max(once, 0.001)))}")
    managed = pinned + house.managed("--exact") + words
    ways = {
        "one": lambda: seconds(pinned + words, env, OMP_NUM_THREADS="1"),
        "passive": lambda: seconds(pinned + words, env, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive"),
        "scaf": lambda: seconds(managed, env, OMP_NUM_THREADS="2"),
    }
    took = {way: [] for way in ways}
    for _ in range(rounds):
        for way, start in ways.items():
            took[way].append(start())
    to_one = {way: statistics.median(a / b for a, b in zip(took[way], took["one"])) for way in ways}
    cells = [f"{statistics.median(took[way]):.2f}" for way in ways]
    print(f"| {name} | {' | '.join(cells)} | {to_one['passive']:.3f} | {to_one['scaf']:.3f} |", flush=True)


def main():
    pu = min(os.sched_getaffinity(0))
    rounds = int(os.environ.get("RUNS", "5"))
    House.binaries = HOME / "target/release"
    with House("equi") as house:
        print(f"load before: {open('/proc/loadavg').read().rsplit(None, 2)[0]}; {rounds} rounds")
        print("| program | one thread, s | `passive` | scaf | passive/one | scaf/one |")
        print("|---|--:|--:|--:|--:|--:|", flush=True)
        for name in sys.argv[1:] or KERNELS + CLANG + REAL:
            measure(name, pu, house, rounds)


main()
