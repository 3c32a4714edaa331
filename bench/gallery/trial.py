"""Runs one program of the gallery: alone plain and under scaf, while grants change, beside rivals."""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import getting
from entries import HERE
from getting import ROOT, Failed

sys.path.append(str(HERE.parent / "corpus"))
from house import House  # noqa: E402
from judge import difference, first  # noqa: E402

LIMIT_S, MIX_S = 120, 1800
CONFIGS = ("unmanaged", "passive", "pinned", "scaf")


class Hung(Failed):
    pass


class Trial:
    def __init__(self, name, program, limit=0):
        self.name, self.program = name, program
        self.limit = limit or program.get("limit_s", LIMIT_S)
        self.reference, self.cpu = None, 0.0
        self.work = ROOT / "work" / name

    def run(self, before=(), house=None):
        """Runs it once, in a folder of its own: what is kept, and seconds; processor time is noted."""
        env = getting.surroundings(self.name, house.env if house else None)
        self.work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.monotonic()
            printed = self.spawn([*before, "sh", "-euc", self.program["command"]], folder, env)
            seconds = time.monotonic() - start
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
            return self.kept(printed, folder), seconds

    def spawn(self, words, folder, env):
        null = subprocess.DEVNULL
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
            child = subprocess.Popen(
                words, cwd=folder, env=env, stdin=null, stdout=out, stderr=said, start_new_session=True
            )
            try:
                child.wait(self.limit)
            except subprocess.TimeoutExpired:
                raise Hung(f"doesn't end in {self.limit:.0f} s") from None
            finally:
                getting.end(child)
                child.wait()
            for file in (out, said):
                file.seek(0)
            printed, errors = out.read(), said.read().decode(errors="replace").strip()
        if child.returncode != 0:
            lines = errors.splitlines() or [""]
            raise Failed(f"ended with {child.returncode}: {lines[-1][:200]}")
        return printed.decode("latin-1")

    def kept(self, printed, folder):
        """The part of a run's results that has to be the same each time."""
        keep = self.program["keep"]
        if "lines" in keep:
            found = re.findall(keep["lines"], printed, re.MULTILINE)
            text = "\n".join(" ".join(one) if isinstance(one, tuple) else one for one in found)
        elif "file" in keep:
            text = hashlib.sha256(self.read(folder, keep["file"])).hexdigest()
        elif "text" in keep:
            text = self.read(folder, keep["text"]).decode("latin-1")
        elif "after" in keep:
            text = getting.call(["sh", "-euc", keep["after"]], self.limit, cwd=folder,
                                env=getting.surroundings(self.name))
        else:
            text = printed
        if not text.strip():
            raise Failed("it left no result")
        return text

    def read(self, folder, file):
        try:
            with open(os.path.join(folder, file), "rb") as opened:
                return opened.read()
        except OSError as error:
            raise Failed(f"it left no result: {error.strerror}: {file}") from None

    def differs(self, text):
        """What is other than in the first run, in a line; nothing where all is the same."""
        gap = difference(self.reference, text)
        if gap is not None and gap <= self.program["keep"].get("tolerance", 0.0):
            return ""
        return first(self.reference, text) + (f" (off by {gap:.1e})" if gap else "")

    def learn(self):
        """Two plain runs, which have to agree."""
        try:
            self.reference, cold = self.run()
            text, seconds = self.run()
        except Failed as error:
            raise Failed(f"plain: {error}") from None
        if self.differs(text):
            raise Failed(f"plain runs differ: {self.differs(text)}")
        (getting.data(self.name) / ".reference").write_text(self.reference)
        return {"seconds": min(cold, seconds), "cpu_s": self.cpu}

    def once(self):
        """A run for a mix, which compares what is printed, or leaves that to us where numbers may differ."""
        text, seconds = self.run()
        if "tolerance" not in self.program["keep"]:
            return text
        self.reference = (getting.data(self.name) / ".reference").read_text()
        fault = self.differs(text)
        return json.dumps({"name": self.name, "seconds": seconds, "verified": not fault, "fault": fault})

    def checked(self, house, *words):
        """A managed run: what was wrong, in a line, and seconds."""
        try:
            text, seconds = self.run(house.managed(*words), house)
        except Failed as error:
            return ("hung: " if isinstance(error, Hung) else "failed: ") + str(error), None
        return self.differs(text), seconds

    def alone(self, pairs):
        """Plain and under scaf by turns."""
        plain, managed, wrong = [], [], []
        with House("scaf") as house:
            fault, _ = self.checked(house)
            wrong += [fault] if fault else []
            for _ in range(pairs):
                plain.append(self.run()[1])
                fault, seconds = self.checked(house)
                wrong += [fault] if fault else []
                if seconds is None:
                    break
                managed.append(seconds)
        ratios = [two / one for one, two in zip(plain, managed)]
        return {"plain_s": statistics.median(plain) if plain else None,
                "managed_s": statistics.median(managed) if managed else None,
                "ratio": statistics.median(ratios) if ratios else None, "wrong": wrong}

    def how(self):
        """How it is managed: a run on one context, under the eyes of `scaf ps`."""
        seen, over = {}, threading.Event()

        def look():
            while not over.wait(0.2):
                for entry in house.programs() or []:
                    key = (entry["mechanism"], entry["mechanism_reason"] or entry["ungathered"])
                    seen[key] = seen.get(key, 0) + 1
                    runtimes.update(runtime["name"] for runtime in entry["runtimes"])

        runtimes = set()
        with House("equi") as house:
            looking = threading.Thread(target=look)
            looking.start()
            try:
                fault, _ = self.checked(house, "--max", "1")
            finally:
                over.set()
                looking.join()
        order = sorted(seen, key=seen.get, reverse=True)
        mechanisms = list(dict.fromkeys(mechanism for mechanism, _ in order))
        return {"mechanisms": mechanisms or ["not at all"], "runtimes": sorted(runtimes),
                "reasons": [reason for _, reason in order if reason][:3], "wrong": [fault] if fault else []}

    def chaos(self, runs):
        """Runs with any number of any PUs, changing all the time."""
        found = {"runs": runs, "right": 0, "wrong": []}
        if runs:
            with House("chaos", "--seed", str(runs)) as house:
                for _ in range(runs):
                    fault, _ = self.checked(house)
                    found["wrong"] += [fault] if fault else []
                    found["right"] += not fault
        return found

    def beside(self, rival, words, repetitions, scaf):
        """What `scaf bench mix` says of it and a rival: throughput under each configuration."""
        own = [sys.executable, str(HERE / "gallery.py"), "once", self.name, "--limit", str(self.limit)]
        text = f'name = "{self.name}-{rival}"\n'
        result = "json-line" if "tolerance" in self.program["keep"] else "stdout-hash"
        for name, command, how in ((self.name, own, result), (f"rival-{rival}", words, "json-line")):
            text += f'\n[[program]]\nname = "{name}"\ncommand = {json.dumps(command)}\n'
            text += f'result = "{how}"\ncap_s = {float(self.limit)}\n'
        mix = ROOT / "mixes" / f"{self.name}-{rival}.toml"
        mix.parent.mkdir(parents=True, exist_ok=True)
        mix.write_text(text)
        asked = [f"{scaf}/scaf", "bench", "mix", str(mix), "--json", "--configs", ",".join(CONFIGS)]
        asked += ["--repetitions", str(repetitions)]
        try:
            said = json.loads(measured(asked))
        finally:
            mix.unlink()
            shutil.rmtree(self.work, ignore_errors=True)
        return {config["name"]: told(config, self.name) for config in said["configs"]}


def measured(words):
    """The standard output of a benchmark, which is interrupted where it takes too long: it cleans up then."""
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, env=getting.surroundings("none")
    ) as child:
        try:
            out, errors = child.communicate(timeout=MIX_S)
        except BaseException as error:
            child.send_signal(signal.SIGINT)
            try:
                child.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                pass
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f"the mix doesn't end in {MIX_S} s") from None
            raise
        finally:
            getting.end(child)
    # 1: something failed or was wrong, which the JSON says too.
    if child.returncode not in (0, 1) or not out.strip():
        lines = errors.decode(errors="replace").strip().splitlines() or ["no word"]
        raise Failed(f"the mix failed: {lines[-1][:200]}")
    return out


def told(config, name):
    own = next(program for program in config["programs"] if program["name"] == name)
    return {"stp": config["stp"], "vs_pinned": config["stp_vs_pinned_ratio"], "speedup": own["speedup"],
            "capped": own["capped"], "verified": all(one["verified"] for one in config["programs"]),
            "failure": next((one["failure"] for one in config["programs"] if one.get("failure")), "")}
