"""What programs of the gallery read, the same every time.

inputs.py KIND NUMBER...   to standard output; the kinds are the functions below and bench/corpus/inputs.py's
"""

import pathlib
import random
import runpy
import sys

RNG = random.Random(7)
OTHERS = pathlib.Path(__file__).resolve().parents[1] / "corpus" / "inputs.py"


def text(megabytes):
    """Words, a few of them often, as in a language."""
    words = ["".join(RNG.choices("etaoinshrdlu", k=RNG.randrange(2, 9))) for _ in range(20_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    known = [" ".join(RNG.choices(words, weights, k=180)) for _ in range(1000)]
    lines, size = [], 0
    while size < megabytes * 1_000_000:
        line = RNG.choice(known)
        at = RNG.randrange(len(line))
        lines.append(line[at:] + str(RNG.randrange(10**9)) + line[:at])
        size += len(lines[-1]) + 1
    return "\n".join(lines)[: megabytes * 1_000_000]


def sources(files, functions):
    """A program in C as one text: a line `== NAME` begins each file; main.c calls all of them."""
    parts = []
    for file in range(files):
        parts.append(f"== part{file}.c")
        for function in range(functions):
            a, b = RNG.randrange(1, 99), RNG.randrange(1, 99)
            parts.append(f"unsigned f{file}_{function}(unsigned x) {{ unsigned v[16];"
                         f" for (int i = 0; i < 16; i++) v[i] = x * {a} + i * {b};"
                         f" for (int i = 0; i < 40; i++) v[i % 16] ^= v[(i * {a}) % 16] >> {b % 7};"
                         f" return v[x % 16] + v[{a % 16}]; }}")
        calls = " + ".join(f"f{file}_{function}(x)" for function in range(functions))
        parts.append(f"unsigned part{file}(unsigned x) {{ return {calls}; }}")
    parts.append("== main.c\n#include <stdio.h>")
    parts += [f"unsigned part{file}(unsigned);" for file in range(files)]
    calls = " + ".join(f"part{file}(7)" for file in range(files))
    parts.append(f'int main(void) {{ printf("%u\\n", {calls}); }}')
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    kinds = {"text": text, "sources": sources}
    made = (kinds.get(sys.argv[1]) or runpy.run_path(str(OTHERS))[sys.argv[1]])(*map(int, sys.argv[2:]))
    sys.stdout.buffer.write(made if isinstance(made, bytes) else made.encode())
