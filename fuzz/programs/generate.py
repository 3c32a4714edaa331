"""Programs by the dozen: each is a choice of parts (parts.py, fortran.py), and a seed makes a choice.

generate.py SEED       prints the program of that seed
"""

import json
import random
import sys

import fortran
import parts

# name: (languages, command)
COMPILERS = {
    "gcc": ("c", ["gcc", "-fopenmp"]),
    "g++": ("c++", ["g++", "-fopenmp"]),
    "clang": ("c", ["clang", "-fopenmp"]),
    "clang++": ("c++", ["clang++", "-fopenmp"]),
    "gfortran": ("fortran", ["gfortran", "-fopenmp"]),
}
LEVELS = ("-O2", "-O2", "-O0", "-O1", "-O3", "-O3 -march=native")
SUFFIX = {"c": ".c", "c++": ".cpp", "fortran": ".f90"}
# What shrinking tries first for each part.
SIMPLEST = {"frame": "parallel", "out": "printed", "clause": "", "schedule": "", "level": "-O2",
            "compiler": "gcc", "rounds": 20, "threads": 2}

HEAD = """#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __cplusplus
#include <atomic>
#include <thread>
#else
#include <threads.h>
#endif
enum { MOST = 1024 };
static int T;
static long taken;
static unsigned long keys[MOST];
static long opaque(long n) { char text[8] = "0"; text[0] += n; return strtol(text, NULL, 10); }
__attribute__((noinline)) static long work(long n) {
    volatile double x = 1;
    for (int i = 0; i < WORK; i++) x *= 1.0000001;
    return n; }
static int warmed[64];
static void warm(void) {
    const char *wait = getenv("WARM_MS");
    double until = omp_get_wtime() + (wait ? atoi(wait) : 0) / 1000.0;
    while (wait && omp_get_wtime() < until) {
#pragma omp parallel for
        for (int i = 0; i < 64; i++) warmed[i] = i;
    } }
__attribute__((noinline, unused)) static int slot(unsigned long key) {
    key++;
    for (int i = 0; i < MOST; i++) { unsigned long none = 0;
        if (__atomic_load_n(&keys[i], __ATOMIC_SEQ_CST) == key) return i;
        if (__atomic_compare_exchange_n(&keys[i], &none, key, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return i; }
    return 0; }
"""


def choose(seed):
    """The parts of a seed's program."""
    draw = random.Random(seed)
    language = draw.choice(["c", "c", "c++", "fortran"])
    compiler = draw.choice([name for name, (speaks, _) in COMPILERS.items() if speaks == language])
    choice = {"seed": seed, "language": language, "compiler": compiler, "level": draw.choice(LEVELS),
              "pure": draw.random() < 0.3, "schedule": draw.choice(parts.SCHEDULES),
              "threads": draw.choice([2, 3, 4]), "rounds": draw.choice([20, 60, 200]),
              "work": draw.choice([200, 2000]), "way": "", "frame": "parallel", "clause": "",
              "out": "printed"}
    if language == "fortran":
        choice["what"] = draw.choice(sorted(fortran.PURE if choice["pure"] else fortran.DEPENDENT))
        return choice
    choice["out"] = draw.choice(sorted(parts.OUTS))
    if choice["pure"]:
        return choice | {"what": draw.choice(sorted(parts.PURE))}
    choice["frame"] = draw.choice(sorted(parts.FRAMES))
    choice["clause"] = draw.choice(["", "", "num_threads(T)"])
    if draw.random() < 0.25:
        return choice | {"what": draw.choice(sorted(parts.ALONE)), "frame": "parallel"}
    while True:
        way, what = draw.choice(sorted(parts.WAYS)), draw.choice(sorted(parts.USES))
        kind, languages, _, _ = parts.WAYS[way]
        if kind in parts.USES[what][0].split() and language in languages.split():
            return choice | {"way": way, "what": what}


def source(choice):
    """The text of a program."""
    if choice["language"] == "fortran":
        return fortran.program(choice)
    before, way, ask = "", "0", ""
    clauses = ["reduction(+ : sum, samples)", choice["clause"]]
    if choice["pure"]:
        declarations, region, after = parts.PURE[choice["what"]]
        clauses = [choice["clause"]]
    elif choice["what"] in parts.ALONE:
        declarations, body, after = parts.ALONE[choice["what"]]
    else:
        kind, _, before, way = parts.WAYS[choice["way"]]
        if choice["way"].endswith("_outside"):
            ask, way = way + ";", "asked"
        _, declarations, body, after = parts.USES[choice["what"]]
        body = body.replace("who", f"({way})")
        if kind == "procs":
            ask += " T = asked;"
    each = ""
    if not choice["pure"]:
        region = parts.FRAMES[choice["frame"]]
        called = """__attribute__((noinline)) static void each(long round, long *sum_, long *samples_) {
    long sum = 0, samples = 0;
    BODY
    *sum_ += sum; *samples_ += samples; (void)round; }
"""
        around = """__attribute__((noinline)) static void outer(long round, long *sum_, long *samples_) {
    long sum = 0, samples = 0;
#pragma omp parallel CLAUSES
    { BODY }
    *sum_ += sum; *samples_ += samples; (void)round; }
"""
        each = {"called": called, "in_inner_function": around}.get(choice["frame"], "").replace("BODY", body)
        region = region.replace("BODY", body)
        if choice["what"] == "carried_state":
            region = "unsigned long state_ = state;\n    " + region.replace("firstprivate(state_)", "")
            clauses.append("firstprivate(state_)")
    text = HEAD + before + "\n" + declarations + "\n" + each + """int main(void) {
    unsigned long result = 0;
    T = omp_get_max_threads();
    warm();
    ASK
    for (long round = 0; round < ROUNDS; round++) {
    long sum = 0, samples = 0; (void)samples; (void)sum;
    REGION
    AFTER
    }
    (void)opaque; (void)taken;
    OUT
    return 0; }
"""
    settled = " ".join(clause for clause in clauses if clause)
    for name, part in (("ASK", ask), ("REGION", region), ("AFTER", after), ("OUT", parts.OUTS[choice["out"]]),
                       ("CLAUSES", settled), ("SCHEDULE", choice["schedule"]), ("ROUNDS", choice["rounds"]),
                       ("WORK", choice["work"])):
        text = text.replace(name, str(part))
    return text


def command(choice, name, to):
    """What compiles it."""
    words = COMPILERS[choice["compiler"]][1] + choice["level"].split()
    more = ["-w", "-pthread", "-lm"] + (["-std=c++17"] if choice["language"] == "c++" else [])
    return [*words, name, "-o", to, *more]


if __name__ == "__main__":
    chosen = choose(int(sys.argv[1]))
    print(("! " if chosen["language"] == "fortran" else "// ") + json.dumps(chosen))
    print(source(chosen))
