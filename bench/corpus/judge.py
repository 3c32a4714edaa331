"""What a program of the corpus does plain, what scaf says of it, whether chaos changes it, what it costs."""

import math
import os
import re
import resource
import shlex
import signal
import statistics
import subprocess
import time

from fetch import surroundings
from house import House

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# More threads than PUs too: they are folded or gathered in more ways.
THREADS = (2, 3, 4)


class Unsuitable(Exception):
    """The program doesn't do what it was built for."""


class Incomparable(Exception):
    """Its own plain runs differ in more than numbers."""


class Hung(Exception):
    pass


class Subject:
    def __init__(self, recipe, program, folder):
        self.recipe, self.program, self.folder = recipe, str(program), folder
        self.words = shlex.split(recipe["run"].replace("$PROGRAM", self.program))
        self.patience = 60.0

    def run(self, threads, before=(), house=None, **settings):
        """Runs it once: its output as it is to be compared, seconds, and seconds of processor time."""
        env = dict(house.env if house else os.environ, OMP_NUM_THREADS=str(threads), **settings)
        env["LD_LIBRARY_PATH"] = surroundings("gcc-O2", self.program)["LD_LIBRARY_PATH"]
        for file in self.recipe["output"]:
            (self.folder / file).unlink(missing_ok=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        child = subprocess.Popen(
            [*before, *self.said(threads)], cwd=self.folder, env=env, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        self.child = child
        try:
            printed, errors = child.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise Hung
        seconds = time.monotonic() - start
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        if child.returncode != 0:
            said = errors.decode(errors="replace").strip().splitlines() or [""]
            return f"ended with {child.returncode}: {said[-1][:200]}", seconds, cpu
        text = "" if self.recipe["silent"] else printed.decode("latin-1")
        for file in self.recipe["output"]:
            path = self.folder / file
            text += f"\n== {file}\n"
            text += path.read_bytes().decode("latin-1") if path.exists() else "is missing"
        dropped = re.compile("|".join(self.recipe["drop"]) or "$^")
        lines = [line for line in text.splitlines() if not dropped.search(line)]
        return "\n".join(sorted(lines) if self.recipe["sort"] else lines), seconds, cpu

    def said(self, threads):
        return [word.replace("$THREADS", str(threads)) for word in self.words]

    def plain(self):
        """What it prints by itself, and how far its own runs differ: by nothing, or by how much."""
        made = []
        for threads in (1, 2, 2, 3, 3, 4, 4):
            try:
                made.append((threads, *self.run(threads)))
            except Hung:
                raise Unsuitable(f"plain, {threads} threads: doesn't end in {self.patience:.0f} s") from None
        texts = [text for _, text, _, _ in made]
        if any(text.startswith("ended with ") for text in texts):
            raise Unsuitable("plain: " + next(text for text in texts if text.startswith("ended with ")))
        self.references, self.tolerance = {}, 0.0
        self.patience = max(30.0, 60 * max(seconds for _, _, seconds, _ in made))
        for threads, text, _, _ in made:
            reference = self.references.setdefault(threads, text)
            gap = difference(reference, text)
            if gap is None:
                raise Incomparable(f"its plain runs differ in words: {first(reference, text)}")
            # Another number of threads may print other words, but then each number its own.
            across = difference(texts[0], text)
            self.tolerance = max(self.tolerance, gap, across or 0.0)
        compared = "exact" if self.tolerance == 0 else f"within {self.tolerance:.1e}"
        # What plain runs show among themselves is a sample: another run may lie as far on the other side.
        self.tolerance *= 4
        return {"compared": compared, "bytes": len(texts[0]), "plain_s": made[1][2]}

    def verdict(self):
        """What scaf says before the program runs and while it does."""
        program = House.doctor(self.program)
        resizable = program["facts"]["resizable"]
        forbidden = program["forbids_gathering"] or ""
        found = {"why": resizable["why"] if resizable["resizable"] != "yes" else ""}
        seen = []
        with House("equi") as house:
            words = [*house.managed("--max", "1"), *self.said(2)]
            # Short programs may be gone before anybody looks, and a region that isn't known yet is folded.
            for _ in range(8):
                seen += self.looked_at(house, words)
                if any(entry["mechanism"] in ("resize", "gather") for entry in seen):
                    break
        last = seen[-1] if seen else {"mechanism_reason": "it was gone before anybody looked", "regions": 0}
        found["mechanisms"] = sorted({entry["mechanism"] for entry in seen})
        found["reason"] = last["mechanism_reason"].replace(self.program, os.path.basename(self.program))
        reasons = [entry["ungathered"] for entry in seen if entry["ungathered"]]
        found["ungathered"] = reasons[0] if reasons else forbidden
        found["regions"] = last["regions"]
        if resizable["resizable"] == "yes" or "resize" in found["mechanisms"]:
            found["verdict"] = "resizable"
        elif "gather" in found["mechanisms"]:
            found["verdict"] = "gathered"
        else:
            found["verdict"] = "folded" if found["ungathered"] else "gatherable"
        return found

    def looked_at(self, house, words):
        """All that the daemon says of it while it runs."""
        env = dict(house.env, OMP_NUM_THREADS="2")
        env["LD_LIBRARY_PATH"] = surroundings("gcc-O2", self.program)["LD_LIBRARY_PATH"]
        null = subprocess.DEVNULL
        child = subprocess.Popen(words, cwd=self.folder, env=env, stdin=null, stdout=null, stderr=null)
        deadline = time.monotonic() + self.patience
        seen = []
        while child.poll() is None:
            programs = house.programs() or []
            seen += [program for program in programs if program["regions"] or program["in_region"]]
            if time.monotonic() > deadline:
                child.kill()
        return seen

    def chaos(self, runs):
        """Runs with any number of any PUs, changing a thousand times a second."""
        found = {"runs": runs, "right": 0, "wrong": 0, "hung": 0, "first": ""}
        if runs == 0:
            return found
        with House("chaos", f"--seed={runs}") as house:
            for index in range(runs):
                threads = THREADS[index % len(THREADS)]
                try:
                    text, _, _ = self.run(threads, house.managed(), house)
                except Hung:
                    found["hung"] += 1
                    said = f"{threads} threads: doesn't end in {self.patience:.0f} s"
                    found["first"] = found["first"] or said
                    continue
                gap = difference(self.references[threads], text)
                if gap is not None and gap <= self.tolerance:
                    found["right"] += 1
                    continue
                found["wrong"] += 1
                said = f"{threads} threads: {first(self.references[threads], text)}"
                found["first"] = found["first"] or said
        return found

    def cost(self, repetitions=3):
        """Two threads on one context, in parts of one thread there and of two that sleep where they wait.

        Processor time, and the least of some runs: what it takes on one context, whatever else runs."""
        on_one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        times = {"scaf": [], "one": [], "passive": []}
        with House("equi") as house:
            try:
                self.run(2, house.managed("--max", "1"), house)
                for _ in range(repetitions):
                    times["scaf"].append(self.run(2, house.managed("--max", "1"), house)[2])
                    times["one"].append(self.run(1, on_one)[2])
                    times["passive"].append(self.run(2, on_one, OMP_WAIT_POLICY="passive")[2])
            except Hung:
                return None
        least = {key: min(values) for key, values in times.items()}
        found = {f"{key}_s": value for key, value in least.items()}
        found |= {f"{key}_median_s": statistics.median(values) for key, values in times.items()}
        found["vs_one_ratio"] = least["scaf"] / least["one"]
        found["vs_passive_ratio"] = least["scaf"] / least["passive"]
        return found


def difference(one, other):
    """The largest relative difference of two texts' numbers; None where they differ in more than numbers."""
    if one == other:
        return 0.0
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return None
    largest = 0.0
    for left, right in zip(NUMBER.findall(one), NUMBER.findall(other)):
        if left != right:
            a, b = float(left), float(right)
            largest = max(largest, abs(a - b) / max(abs(a), abs(b), 1e-300))
    return largest if math.isfinite(largest) else None


def first(one, other):
    """The first line that two texts differ in."""
    left, right = one.splitlines(), other.splitlines()
    for number, (a, b) in enumerate(zip(left, right)):
        if a != b:
            return f"line {number + 1}: {a[:80]!r} became {b[:80]!r}"
    return f"{len(left)} lines became {len(right)}"
