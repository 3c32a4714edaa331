"""Looks at the generator itself: all of its parts are drawn and compile, and a seed makes one text."""

import hashlib
import os
import pathlib
import subprocess
import sys

import fortran
import generate
from frames import FRAMES
from uses import ALONE, OUTS, USES
from ways import WAYS

SEEDS = range(1, 5001)
SPOKEN = {"compiler": generate.COMPILERS, "way": WAYS, "frame": FRAMES, "out": OUTS}
KINDS = {"use": USES | ALONE, "pure": generate.PURE_PLUS, "fortran": fortran.DEPENDENT,
         "pure fortran": fortran.PURE}


def parts(choice):
    """What a choice draws: (kind, name)."""
    kind = {(False, False): "use", (True, False): "pure", (False, True): "fortran",
            (True, True): "pure fortran"}[choice["pure"], choice["language"] == "fortran"]
    drawn = {(part, choice[part]) for part in SPOKEN} | {(kind, choice["what"])}
    return drawn if kind == "use" else {(part, name) for part, name in drawn if part not in ("way", "frame")}


def digest(seeds):
    texts = (generate.source(generate.choose(seed)) for seed in seeds)
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def complaints():
    """What is wrong with the generator, in words: nothing, if all is well."""
    drawn = set()
    for seed in SEEDS:
        drawn |= parts(generate.choose(seed))
    wanted = {(part, name) for part, names in (SPOKEN | KINDS).items() for name in names}
    said = [f"{part} {name}: never drawn" for part, name in sorted(wanted - drawn)]
    # Another process has another order of its sets.
    words = [sys.executable, __file__, "digest"]
    env = os.environ | {"PYTHONHASHSEED": "7"}
    told = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.strip()
    return said + (["a seed has two texts"] if told != digest(SEEDS[::20]) else [])


def each_part():
    """Choices in which each part is met once with each compiler that can have it."""
    for compiler, (language, _) in generate.COMPILERS.items():
        plain = generate.choose(1) | {"seed": 0, "language": language, "compiler": compiler, "level": "-O2",
                                      "pure": False, "threads": 3, "rounds": 20, "work": 200,
                                      "out": "printed",
                                      "settings": {}, "schedule": "", "way": "", "frame": "parallel"}
        if language == "fortran":
            for pure, kinds in ((False, fortran.DEPENDENT), (True, fortran.PURE)):
                yield from (plain | {"pure": pure, "what": what} for what in kinds)
            continue
        for what in generate.PURE_PLUS if language == "c++" else generate.PURE:
            yield plain | {"pure": True, "what": what}
        yield from with_frames(compiler, plain)


def with_frames(compiler, plain):
    frames = [frame for frame in FRAMES if compiler in FRAMES[frame][1].split()]
    new, outs = set(WAYS) | set(USES) | set(ALONE), list(OUTS)
    # Frames that can have little choose first.
    frames.sort(key=lambda frame: sum(map(len, generate.fitting(compiler, frame).values())))
    for at, frame in enumerate(frames + frames[::-1] * 2):
        can = generate.fitting(compiler, frame)
        pairs = [(way, what) for way, uses in can.items() for what in uses]
        if not pairs:
            yield plain | {"frame": frame, "what": None}
            continue
        way, what = max(pairs, key=lambda pair: len(new & set(pair)))
        if at >= len(frames) and not new & {way, what}:
            continue
        new -= {way, what}
        out = outs.pop() if outs else "printed"
        yield plain | {"frame": frame, "way": way, "what": what, "out": out,
                       "settings": generate.CANCELS[1] if "cancels" in FRAMES[frame] else {}}


def compile_(choice, folder):
    """The program that is made of a choice, and what the compiler said if it made none."""
    name, to = f"{folder}/program{generate.SUFFIX[choice['language']]}", f"{folder}/program"
    pathlib.Path(name).write_text(generate.source(choice))
    done = subprocess.run(generate.command(choice, name, to), capture_output=True, text=True, cwd=folder)
    return to, done.stderr if done.returncode != 0 else None


if __name__ == "__main__":
    print(digest(SEEDS[::20]) if sys.argv[1:] == ["digest"] else "\n".join(complaints()))
