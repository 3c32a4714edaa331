"""Programs by the dozen: each is a choice of parts, and a seed makes a choice.

generate.py SEED       prints the program of that seed

The parts: ways.py (how threads learn who they are), uses.py (what they do with that, and how the result gets
out), frames.py (the construct it is in), pure.py and pure_more.py (programs that are right at any size),
fortran.py. Each program is deterministic without scaf for a given OMP_NUM_THREADS, by construction; hunt.py
discards what isn't.
"""

import functools
import json
import random
import re
import sys

import fortran
import pure
import pure_more
from frames import FRAMES, SECTION
from text import EACH, HEAD, INCLUDES, LOCALS, MAIN, PLUS_HEAD
from uses import ALONE, OUTS, USES
from ways import WAYS

# name: (languages, command)
COMPILERS = {
    "gcc": ("c", ["gcc", "-fopenmp"]),
    "g++": ("c++", ["g++", "-fopenmp"]),
    "clang": ("c", ["clang", "-fopenmp", "-fopenmp-version=51"]),
    "clang++": ("c++", ["clang++", "-fopenmp", "-fopenmp-version=51"]),
    "gfortran": ("fortran", ["gfortran", "-fopenmp"]),
}
LEVELS = ("-O2", "-O2", "-O0", "-O1", "-O3", "-O3 -march=native")
SUFFIX = {"c": ".c", "c++": ".cpp", "fortran": ".f90"}
# Settings of the user's; where a region is cancelled, that counts.
SETTINGS = ({}, {}, {}, {}, {}, {}, {"OMP_SCHEDULE": "dynamic,2"}, {"OMP_SCHEDULE": "static,1"},
            {"OMP_MAX_ACTIVE_LEVELS": "2"}, {"OMP_DYNAMIC": "false"}, {"OMP_PROC_BIND": "false"},
            {"OMP_WAIT_POLICY": "passive"})
CANCELS = ({}, {"OMP_CANCELLATION": "true"})
# What shrinking tries first for each part.
SIMPLEST = {"frame": "parallel", "out": "printed", "clause": "", "schedule": "", "level": "-O2",
            "compiler": "gcc", "settings": {}, "rounds": 20, "threads": 2}
PURE = pure.PURE | pure_more.PURE
PURE_PLUS = PURE | pure_more.PLUS
# What a kind of way needs of its frame.
KINDS = {"rank": "team", "ticket": "each team", "key": "", "place": "each", "count": "team", "procs": "",
         "told": "", "cpu": ""}


def needs(*texts):
    """What texts need of their frame, as far as that is seen."""
    said, found = " ".join(texts), set()
    if "#pragma omp" in said and "#pragma omp threadprivate" not in said:
        found |= {"pragmas", "calls"}
    if "omp_" in said or "#pragma" in said:
        found.add("calls")
    if re.search(r"\b(__thread|thread_local|threadprivate)\b", said):
        found.add("local")
    if re.search(r"\b(sum|samples)\b", said):
        found.add("sums")
    return found


@functools.cache
def fitting(compiler, frame):
    """The ways and uses that a frame of a compiler's can have: {way: uses}; what needs no way under ""."""
    provided = set(FRAMES[frame][0].split())
    language = COMPILERS[compiler][0]
    provided.add(language)
    found = {}
    if compiler not in FRAMES[frame][1].split():
        return found
    for what, (wants, before, body, _) in ALONE.items():
        if set(wants.split()) | needs(body) | needs(before) - {"pragmas"} <= provided:
            found.setdefault("", []).append(what)
    for way, (kind, languages, before, expression) in WAYS.items():
        kind, *wants = kind.split()
        if language not in languages.split():
            continue
        wants = set(wants) | set(KINDS[kind].split()) | needs(before, expression) - {"pragmas"}
        for what, (kinds, more, declared, body, _) in USES.items():
            more = set(more.split()) | needs(body) | needs(declared) - {"pragmas"}
            if kind in kinds.split() and wants | more <= provided:
                found.setdefault(way, []).append(what)
    return found


def choose(seed):
    """The parts of a seed's program."""
    draw = random.Random(seed)
    language = draw.choice(["c", "c", "c++", "fortran"])
    compiler = draw.choice([name for name, (speaks, _) in COMPILERS.items() if speaks == language])
    choice = {"seed": seed, "language": language, "compiler": compiler, "level": draw.choice(LEVELS),
              "pure": draw.random() < 0.3, "schedule": draw.choice(pure.SCHEDULES),
              "threads": draw.choice([2, 3, 4]), "rounds": draw.choice([20, 60, 200]),
              "work": draw.choice([200, 2000]), "way": "", "frame": "parallel", "clause": "",
              "out": "printed", "settings": draw.choice(SETTINGS)}
    if language == "fortran":
        choice["what"] = draw.choice(sorted(fortran.PURE if choice["pure"] else fortran.DEPENDENT))
        return choice
    choice["out"] = draw.choice(sorted(OUTS))
    if choice["pure"]:
        return choice | {"what": draw.choice(sorted(PURE_PLUS if language == "c++" else PURE))}
    frame = draw.choice(sorted(frame for frame in FRAMES if compiler in FRAMES[frame][1].split()))
    if "cancels" in FRAMES[frame]:
        choice["settings"] = draw.choice(CANCELS)
    can = fitting(compiler, frame)
    # One in five has no way, where the frame leaves the choice.
    without = "" in can and (len(can) == 1 or draw.random() < 0.2)
    way = "" if without else draw.choice(sorted(way for way in can if way))
    return choice | {"frame": frame, "clause": draw.choice(["", "", "num_threads(T)"]), "way": way,
                     "what": draw.choice(can[way])}


def source(choice):
    """The text of a program."""
    if choice["language"] == "fortran":
        return fortran.program(choice)
    before, ask, clauses = "", "", [choice["clause"]]
    if choice["pure"]:
        declarations, region, after = PURE_PLUS[choice["what"]]
    else:
        clauses.insert(0, "reduction(+ : sum, samples)")
        if choice["way"]:
            _, _, before, way = WAYS[choice["way"]]
            if choice["way"].endswith("_outside"):
                ask, way = way + ";", "asked"
            _, _, declarations, body, after = USES[choice["what"]]
            declarations, body = (fill(part, who=f"({way})") for part in (declarations, body))
        else:
            _, declarations, body, after = ALONE[choice["what"]]
        region = fill(FRAMES[choice["frame"]][2], SECTIONS=SECTION * choice["threads"])
        locals_ = [text for name, text in LOCALS.items() if re.search(rf"\b{name}\b", region)]
        region = fill("\n    ".join([*locals_, region]), BODY="{ BODY\n    }")
        for name, text in EACH.items():
            if f"{name}(" in region:
                declarations += "\n" + text
        # A pragma may stand last.
        region, declarations = fill(region, BODY=body), fill(declarations, BODY=body + "\n")
    head = HEAD + (PLUS_HEAD if choice["language"] == "c++" else "")
    text = "\n".join([head, before, declarations, MAIN])
    text = fill(text, ASK=ask, REGION=region, AFTER=after, OUT=OUTS[choice["out"]])
    text = fill(text, CLAUSES=" ".join(clause for clause in clauses if clause), ROUNDS=choice["rounds"],
                SCHEDULE=schedule(choice, region), WORK=choice["work"])
    more = [f"#include <{name}>\n" for word, name in INCLUDES.items() if word in text]
    return text.replace("MORE_INCLUDES", "".join(sorted(set(more))))


def schedule(choice, region):
    """The schedule of a program's loops, where they can have it."""
    is_ = choice["schedule"]
    if re.search(r"lastprivate|linear", region) and choice["compiler"].startswith("clang"):
        # Threads that take chunks from each other may lose the last value in LLVM's 14.
        return "schedule(guided)" if re.search("dynamic|runtime", is_) else is_
    return is_.replace("nonmonotonic : ", "") if "ordered" in region else is_


def fill(text, **parts):
    """A text with words replaced."""
    for name, part in parts.items():
        text = re.sub(rf"\b{name}\b", lambda _, part=part: str(part), text)
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
