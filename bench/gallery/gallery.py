"""The gallery: programs by others, as people use them, alone under scaf and beside rivals.

gallery.py check                    reads all programs' files; installs and runs nothing
gallery.py list                     their names and what they are
gallery.py install [NAMES]          installs them and makes what they read; says which can't be had
gallery.py run [NAMES] --into FILE  measures them, installed or not yet, and adds them to this JSON file
  --pairs N                         so many pairs of a plain and a managed run; 5 where nothing is said
  --chaos N                         and so many runs while grants change all the time; 3
  --rivals                          also beside each rival, by `scaf bench mix`; --repetitions N as there
  --rival NAMES                     only beside these: cg, lightgbm, pool
  --scaf FOLDER                     where scaf, scafd and libscaf.so are; target/release
  --limit S                         longest run in seconds, whatever the programs' files say
gallery.py table FILE [--svg FILE]  the table of what was measured, and its picture

All is below build/gallery, but for apt's packages. README.md has how to add a program.
"""

import argparse
import datetime
import json
import os
import shutil
import signal
import sys
import time

import entries
import getting
import picture
import trial
from getting import ROOT, Failed


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check")
    verbs.add_parser("list")
    verbs.add_parser("install").add_argument("names", nargs="*")
    run = verbs.add_parser("run")
    run.add_argument("names", nargs="*")
    run.add_argument("--into", required=True)
    run.add_argument("--pairs", type=int, default=5)
    run.add_argument("--chaos", type=int, default=3)
    run.add_argument("--rivals", action="store_true")
    run.add_argument("--rival", default="")
    run.add_argument("--repetitions", type=int, default=2)
    run.add_argument("--scaf", default=str(entries.HERE.parents[1] / "target" / "release"))
    run.add_argument("--limit", type=float, default=0)
    once = verbs.add_parser("once")
    once.add_argument("names", nargs=1)
    once.add_argument("--limit", type=float, default=0)
    table = verbs.add_parser("table")
    table.add_argument("file")
    table.add_argument("--svg")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    if args.verb == "table":
        with open(args.file) as file:
            data = json.load(file)
        print(picture.table(data), end="")
        picture.draw(data, args.svg or os.path.splitext(args.file)[0] + ".svg")
        return
    known = entries.load()
    names = getattr(args, "names", [])
    wrong = list(entries.faults(known)) if args.verb != "once" else []
    wrong += [f"there is no program {name}" for name in names if name not in known]
    if wrong:
        sys.exit("\n".join(wrong))
    chosen = {name: known[name] for name in names or known}
    VERBS[args.verb](chosen, args)


def check(chosen, _):
    print(f"{len(chosen)} programs")


def listed(chosen, _):
    for name, program in chosen.items():
        print(f"{name:20} {program['description']}")


def install(chosen, _):
    failed = 0
    for name, program in chosen.items():
        said = prepared(name, program)
        failed += bool(said)
        print(f"{name:20} {said or 'ready'}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} are ready")


def prepared(name, program):
    """Why a program can't be had; nothing where it is ready."""
    try:
        getting.ready(name, program)
    except (Failed, OSError) as error:
        return f"can't be had: {error}"
    return ""


def once(chosen, args):
    """One run for a mix."""
    [(name, program)] = chosen.items()
    try:
        print(trial.Trial(name, program, args.limit).once())
    except Failed as error:
        sys.exit(str(error))


def run(chosen, args):
    trial.House.binaries = os.path.abspath(args.scaf)
    bad = 0
    print(row("program", "managed", "plain s", "ratio", "same", "chaos", "beside rivals: scaf of pinned"))
    try:
        for name, program in chosen.items():
            start = time.monotonic()
            found = one(name, program, args)
            found["took_s"] = time.monotonic() - start
            bad += bool(found.get("wrong"))
            print(told(found), flush=True)
            save(args.into, found)
    finally:
        for name in chosen:
            shutil.rmtree(ROOT / "work" / name, ignore_errors=True)
    sys.exit(bool(bad))


def one(name, program, args):
    """All that is found out about one program; a failure is a result as well."""
    found = {"name": name, "description": program["description"]}
    failed = prepared(name, program)
    if failed:
        return found | {"failed": failed}
    subject = trial.Trial(name, program, args.limit)
    try:
        found |= subject.learn()
        found["how"] = subject.how()
        found["alone"] = subject.alone(args.pairs)
        found["chaos"] = subject.chaos(args.chaos)
    except (Failed, OSError, RuntimeError) as error:
        return found | {"failed": str(error)}
    parts = ("how", "alone", "chaos")
    found["wrong"] = [f"{part}: {fault}" for part in parts for fault in found[part]["wrong"]]
    if args.rivals or args.rival:
        found["rivals"] = rivals(subject, args)
        found["wrong"] += [f"beside {rival}, {config}: {said['failure'] or 'another result'}"
                           for rival, configs in found["rivals"].items() if "failed" not in configs
                           for config, said in configs.items() if not said["verified"]]
    return found


def rivals(subject, args):
    found = {}
    for rival, words in getting.rivals().items():
        if args.rival and rival not in args.rival.split(","):
            continue
        try:
            found[rival] = subject.beside(rival, words, args.repetitions, os.path.abspath(args.scaf))
        except (Failed, OSError, ValueError) as error:
            found[rival] = {"failed": str(error)}
    return found


def row(*cells):
    return "%-18s %-16s %8s %6s %5s %6s  %s" % cells


def told(found):
    if "failed" in found:
        return row(found["name"], "-", "-", "-", "-", "-", found["failed"])
    alone, chaos = found["alone"], found["chaos"]
    ratio = "%.3f" % alone["ratio"] if alone["ratio"] else "-"
    same = "no" if alone["wrong"] or found["how"]["wrong"] else "yes"
    parts = []
    for rival, configs in found.get("rivals", {}).items():
        value = configs.get("scaf", {}).get("vs_pinned")
        parts.append(f"{rival} {value:.2f}" if value else f"{rival} -")
    rest = ", ".join(parts) + "".join(f"; {fault}" for fault in found["wrong"][:2])
    seconds = "%.2f" % found["seconds"]
    share = f"{chaos['right']}/{chaos['runs']}"
    return row(found["name"], "+".join(found["how"]["mechanisms"]), seconds, ratio, same, share, rest)


def save(file, found):
    """The file is a whole after each program, so that a run that is stopped has said what it knows."""
    try:
        with open(file) as old:
            data = json.load(old)
    except FileNotFoundError:
        data = {**trial.House.machine(), "programs": []}
    others = [entry for entry in data["programs"] if entry["name"] != found["name"]]
    data["programs"] = sorted(others + [found], key=lambda entry: entry["name"])
    data["date"] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(file + ".new", "w") as new:
        json.dump(data, new, indent=2)
        new.write("\n")
    os.replace(file + ".new", file)


VERBS = {"check": check, "list": listed, "install": install, "run": run, "once": once}

if __name__ == "__main__":
    main()
