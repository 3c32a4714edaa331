"""Runs programs that aren't ours under scaf: what it says of them, whether chaos changes results, the cost.

run.py --check              checks the recipes; fetches, builds and runs nothing
run.py [PROJECT...]         all of it, for these projects or for all
  --builds NAMES            only these ways to compile, separated by commas
  --runs N                  so many runs under chaos for each program; 50 where nothing is said
  --scaf FOLDER             where scaf, scafd and libscaf.so are; target/release where nothing is said
  --into FILE               adds what was measured to this JSON file, in place of what it had

What is fetched and built stays in build/corpus. The table is docs/internals/corpus.md's.
"""

import argparse
import datetime
import json
import os
import sys

import fetch
import judge
import recipes
from house import House


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("projects", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--builds")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--scaf", default=str(recipes.HERE.parents[1] / "target" / "release"))
    parser.add_argument("--into")
    args = parser.parse_args()

    known = recipes.load()
    wrong = list(recipes.faults(known))
    wrong += [f"there is no project {name}" for name in args.projects if name not in known]
    builds = args.builds.split(",") if args.builds else list(recipes.BUILDS)
    wrong += [f"there is no build {kind}; there are {', '.join(recipes.BUILDS)}" for kind in builds
              if kind not in recipes.BUILDS]
    if wrong:
        sys.exit("\n".join(wrong))
    if args.check:
        print(f"{len(known)} recipes, {sum(len(recipe['builds']) for recipe in known.values())} programs")
        return
    House.binaries = os.path.abspath(args.scaf)
    rows = []
    print(row("project", "build", "verdict", "chaos", "/one", "/passive", "why not"), flush=True)
    for name in args.projects or known:
        for kind in known[name]["builds"]:
            if kind in builds:
                found = one(name, known[name], kind, args.runs)
                rows.append(found)
                print(told(found), flush=True)
                if args.into:
                    save(args.into, found)
    good = [found for found in rows if found.get("verdict") not in (None, "folded")]
    built = [found for found in rows if "verdict" in found]
    print(f"{len(good)} of {len(built)} programs can be resized or gathered; {len(rows) - len(built)} failed")
    sys.exit(any(found["chaos"]["wrong"] or found["chaos"]["hung"] for found in built))


def one(name, recipe, kind, runs):
    """All that is found out about one program."""
    found = {"project": name, "build": kind}
    try:
        program = fetch.build(name, recipe, kind)
        folder = fetch.given(name, recipe, kind)
    except fetch.Failed as error:
        return found | {"failed": str(error)}
    subject = judge.Subject(recipe, program, folder)
    try:
        found |= subject.plain()
    except judge.Unsuitable as error:
        return found | {"failed": str(error)}
    except judge.Incomparable as error:
        # A verdict can be had all the same.
        found["compared"] = str(error)
        runs = 0
    found |= subject.verdict()
    found["chaos"] = subject.chaos(runs)
    found["cost"] = subject.cost()
    return found


def row(*cells):
    return "%-18s %-10s %-9s %9s %6s %8s  %s" % cells


def told(found):
    if "failed" in found:
        return row(found["project"], found["build"], "-", "-", "-", "-", found["failed"])
    chaos, cost = found["chaos"], found["cost"]
    share = f"{chaos['right']}/{chaos['runs']}"
    why = found["why"] if found["verdict"] != "resizable" else ""
    if found["verdict"] == "folded":
        why += " | not gathered: " + found["ungathered"]
    ratios = ["%.2f" % cost[key] if cost else "-" for key in ("vs_one_ratio", "vs_passive_ratio")]
    return row(found["project"], found["build"], found["verdict"], share, *ratios, why)


def save(file, found):
    """The file is a whole after each program, so that a run that is stopped has said what it knows."""
    try:
        with open(file) as old:
            data = json.load(old)
    except FileNotFoundError:
        data = {**House.machine(), "programs": []}
    which = (found["project"], found["build"])
    others = [entry for entry in data["programs"] if (entry["project"], entry["build"]) != which]
    data["programs"] = others + [found]
    data["date"] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(file + ".new", "w") as new:
        json.dump(data, new, indent=2)
        new.write("\n")
    os.replace(file + ".new", file)


if __name__ == "__main__":
    main()
