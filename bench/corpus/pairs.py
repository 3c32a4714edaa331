"""Lets two programs of the corpus share the machine, under one configuration after another.

pairs.py [A+B...]        these pairs, or all programs in pairs drawn by chance
  --seed N               other pairs; 1 where nothing is said
  --build NAME           how they are compiled; gcc-O2 where nothing is said
  --configs, --repetitions   as `scaf bench mix` has them
  --scaf FOLDER          where scaf and the rest are; target/release where nothing is said
  --into FOLDER          keeps the JSON of each pair's mix in this folder

A program is run again and again for about two seconds, for most are short: so starts count as well.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

import fetch
import judge
import recipes

SECONDS = 2.0


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("pairs", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default="gcc-O2")
    parser.add_argument("--configs", default="pinned,passive,scaf")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--scaf", default=str(recipes.HERE.parents[1] / "target" / "release"))
    parser.add_argument("--into", default=str(fetch.ROOT / "pairs"))
    args = parser.parse_args()

    known = {name: recipe for name, recipe in recipes.load().items() if args.build in recipe["builds"]}
    named = [name for pair in args.pairs for name in pair.split("+")]
    wrong = [f"there is no program {name} by {args.build}" for name in named if name not in known]
    wrong += [f"{pair} isn't a pair like a+b" for pair in args.pairs if pair.count("+") != 1]
    if wrong:
        sys.exit("\n".join(wrong))
    into = pathlib.Path(args.into)
    into.mkdir(parents=True, exist_ok=True)
    loops = {}
    for name in named or known:
        try:
            loops[name] = loop(name, known[name], args.build)
        except (fetch.Failed, judge.Unsuitable) as error:
            print(f"{name}: {error}", file=sys.stderr)
    configs = args.configs.split(",")
    print(row("pair", *configs), flush=True)
    ratios = {config: [] for config in configs}
    for pair in [pair.split("+") for pair in args.pairs] or drawn(list(loops), args.seed):
        if all(name in loops for name in pair):
            found = corun(pair, loops, args, into)
            for config in configs:
                ratios[config].append(found[config])
            print(row("+".join(pair), *("%.2f" % found[config] for config in configs)), flush=True)
    means = (statistics.geometric_mean(values) if values else math.nan for values in ratios.values())
    print(row("geometric mean", *("%.3f" % mean for mean in means)))


def drawn(names, seed):
    """All of them in pairs; one may be left over."""
    random.Random(seed).shuffle(names)
    return list(zip(names[::2], names[1::2]))


def loop(name, recipe, kind):
    """How to run one program for about SECONDS, by one thread; that fails if one run does."""
    subject = judge.Subject(recipe, fetch.build(name, recipe, kind), fetch.given(name, recipe, kind))
    try:
        text, _, cpu = min((subject.run(1) for _ in range(3)), key=lambda run: run[2])
    except judge.Hung:
        raise judge.Unsuitable("it doesn't end") from None
    if text.startswith("ended with "):
        raise judge.Unsuitable(text)
    times = math.ceil(SECONDS / max(cpu, 0.005))
    words = recipe["run"].replace("$PROGRAM", subject.program).replace("$THREADS", "$(nproc)")
    script = fetch.ROOT / "loops" / kind / f"{name}.sh"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        f"set -e\ncd '{subject.folder}'\nfor i in $(seq {times}); do\n    {words} > /dev/null 2>&1\ndone\n"
        "echo ended\n"
    )
    libraries = fetch.surroundings(kind, subject.program)["LD_LIBRARY_PATH"]
    return ["env", f"LD_LIBRARY_PATH={libraries}", "sh", str(script)]


def corun(pair, loops, args, into):
    """What `scaf bench mix` says of two: each configuration's part of `pinned`'s throughput."""
    mix = into / f"{'+'.join(pair)}.toml"
    text = f"name = {json.dumps('+'.join(pair))}\n"
    for name in pair:
        text += f"\n[[program]]\nname = {json.dumps(name)}\ncommand = {json.dumps(loops[name])}\n"
        text += 'result = "stdout-hash"\n'
    mix.write_text(text)
    words = [f"{args.scaf}/scaf", "bench", "mix", str(mix), "--json", "--configs", args.configs]
    done = subprocess.run(
        [*words, "--repetitions", str(args.repetitions)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if done.returncode != 0:
        sys.exit(f"{'+'.join(pair)}: {done.stderr.decode(errors='replace').strip()}")
    mix.unlink()
    (into / f"{'+'.join(pair)}.json").write_bytes(done.stdout)
    said = json.loads(done.stdout)
    return {config["name"]: config["stp_vs_pinned_ratio"] or math.nan for config in said["configs"]}


def row(*cells):
    return "%-32s" % cells[0] + "".join("%10s" % cell for cell in cells[1:])


if __name__ == "__main__":
    main()
