"""A folder with a daemon in it, for one test case. Its programs are Python scripts, started by `scaf run`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("SCAF_TEST_BINARIES", str(ROOT / "target/release")))
PATIENCE_S = 30.0
T = TypeVar("T")

#: Computes on as many threads as it is granted until its input ends, without any library.
NEIGHBOUR = """
import hashlib, scaf, select, sys
with scaf.pool(2, name="neighbour") as pool:
    while not select.select([0], [], [], 0)[0]:
        list(pool.map(lambda n: hashlib.pbkdf2_hmac("sha256", b"a", b"b", 5000), range(20)))
"""


def wait_for(what: str, look: Callable[[], T]) -> T:
    """The first true answer."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain: {what}")


class DaemonTestCase(unittest.TestCase):
    """A test case with a daemon that divides two CPUs equally, whatever else runs."""

    def setUp(self) -> None:
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("two CPUs are needed")
        os.sched_setaffinity(0, cpus[:2])
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        self.folder = Path(tempfile.mkdtemp(prefix="scaf-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.programs: List[subprocess.Popen[str]] = []
        self.socket = self.folder / "scafd.sock"
        (self.folder / "scafd.toml").write_text("count_load = false\n")
        self.open()

    def open(self) -> None:
        words: List[Any] = [BINARIES / "scafd", "--session", "--idle-exit", "0", "--policy", "equi"]
        words += ["--socket", self.socket, "--config", self.folder / "scafd.toml"]
        log = open(self.folder / "log", "w")
        self.daemon = subprocess.Popen(words, env=self.environment(), stdin=subprocess.DEVNULL, stderr=log)
        log.close()
        self.addCleanup(self.close, self.daemon)
        wait_for("the daemon", self.socket.exists)

    def close(self, daemon: "subprocess.Popen[bytes]") -> None:
        for program in self.programs:
            if program.poll() is None:
                program.kill()
            program.communicate()
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(10)

    def environment(self, **more: str) -> Dict[str, str]:
        """Says nothing of OpenMP or scaf but where this test's daemon is."""
        ours = ("OMP_", "GOMP_", "OPENBLAS_", "SCAF_", "LD_PRELOAD")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        places = {"XDG_RUNTIME_DIR": self.folder, "XDG_DATA_HOME": self.folder, "XDG_CACHE_HOME": self.folder}
        kept.update({name: str(place) for name, place in places.items()})
        kept.update(SCAF_SOCKET=str(self.socket), SCAF_LIB=str(BINARIES / "libscaf.so"))
        kept.update(PATH=f"{BINARIES}:{kept['PATH']}", PYTHONPATH=f"{ROOT / 'python'}")
        kept.update(more)
        return kept

    def start(
        self, script: str, *options: str, managed: bool = True, within: Sequence[str] = (), **more: str
    ) -> "subprocess.Popen[str]":
        """Starts a script, given as text, by a command that other commands are given to."""
        before = [str(BINARIES / "scaf"), "run", *options, "--"] if managed else []
        words = [*within, *before, sys.executable, "-c", script]
        pipe = subprocess.PIPE
        program = subprocess.Popen(words, env=self.environment(**more), stdin=pipe, stdout=pipe, text=True)
        self.programs.append(program)
        return program

    def run_script(
        self, script: str, *options: str, managed: bool = True, within: Sequence[str] = (), **more: str
    ) -> List[str]:
        """The lines that a script prints, which has to end well."""
        program = self.start(script, *options, managed=managed, within=within, **more)
        printed, _ = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0, printed)
        return printed.splitlines()

    def neighbour(self) -> "subprocess.Popen[str]":
        """Another program, which has one of the two CPUs if this one has work for both."""
        program = self.start(NEIGHBOUR)
        wait_for("the neighbour is attached", lambda: self.contexts(program.pid))
        return program

    def snapshot(self) -> Dict[str, Any]:
        words = [str(BINARIES / "scaf"), "ps", "--json"]
        told = subprocess.run(words, env=self.environment(), capture_output=True, check=True).stdout
        snapshot: Dict[str, Any] = json.loads(told)
        return snapshot

    def contexts(self, pid: int) -> Optional[int]:
        found = [program["dop"] for program in self.snapshot()["programs"] if program["pid"] == pid]
        return found[0] if found else None
