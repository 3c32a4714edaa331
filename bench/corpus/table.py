"""Prints what run.py measured (its JSON file) as docs/internals/corpus.md shows it: a line a project, and
counts.

table.py FILE
"""

import collections
import json
import re
import sys

GOOD = ("resizable", "gathered", "gatherable")


def main(file):
    programs = json.load(open(file))["programs"]
    judged = [found for found in programs if "verdict" in found]
    by_project = collections.defaultdict(list)
    for found in judged:
        by_project[found["project"]].append(found)
    print("| project | builds | verdicts | chaos | of one thread | of `passive` | why not resized |")
    print("|---|--:|---|--:|--:|--:|---|")
    for name, builds in sorted(by_project.items()):
        verdicts = collections.Counter(found["verdict"] for found in builds)
        said = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
        right, runs = (sum(found["chaos"][key] for found in builds) for key in ("right", "runs"))
        costs = [found["cost"] for found in builds if found["cost"]]
        ratios = [span([cost[key] for cost in costs]) for key in ("vs_one_ratio", "vs_passive_ratio")]
        why = "; ".join(sorted({reason(found) for found in builds if found["verdict"] != "resizable"}))
        print(f"| {name} | {len(builds)} | {said} | {right}/{runs} | {ratios[0]} | {ratios[1]} | {why} |")
    counts = collections.Counter(found["verdict"] for found in judged)
    print(f"\n{len(judged)} programs of {len(by_project)} projects: {dict(counts)}")
    wrong, hung = (sum(found["chaos"][key] for found in judged) for key in ("wrong", "hung"))
    print(f"chaos: {sum(found['chaos']['runs'] for found in judged)} runs, {wrong} wrong, {hung} without end")
    share = sum(found["verdict"] in GOOD for found in judged) / len(judged)
    seen = (counts["resizable"] + counts["gathered"]) / len(judged)
    print(f"share: {share:.3f}; without gatherable: {seen:.3f}")
    for why, count in collections.Counter(map(reason, (f for f in judged if f["why"]))).most_common():
        print(f"{count:4} {why}")
    for found in programs:
        if "failed" in found:
            print(f"not built: {found['project']} {found['build']}: {found['failed']}")
        elif found["chaos"]["wrong"] or found["chaos"]["hung"]:
            print(f"WRONG: {found['project']} {found['build']}: {found['chaos']}")
        elif found["verdict"] == "folded":
            print(f"folded: {found['project']} {found['build']}: {found['ungathered']}")


def span(values):
    if not values:
        return "-"
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def reason(found):
    """Why a program isn't resized, without the place in its code."""
    return re.sub(r"^\S+\+0x[0-9a-f]+ ", "", found["why"])


if __name__ == "__main__":
    main(sys.argv[1])
