"""Processes that weren't started by `scaf run`, and what is said where something is missing."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import scaf
from scaf import _cpus, _daemon, _run

from .daemon_case import DaemonTestCase

NUMPY = importlib.util.find_spec("numpy") is not None
SHELL = """
class Shell:
    def __init__(self):
        self.events, self.hooks = self, {}
    def register(self, name, hook):
        self.hooks[name] = hook
    def unregister(self, name, hook):
        self.hooks.pop(name)
    def push(self, names, interactive):
        pass
    def cell(self, function):
        self.hooks.get("pre_run_cell", lambda info: None)(None)
        result = function()
        self.hooks.get("post_run_cell", lambda result: None)(None)
        return result
shell = Shell()
"""


class Without(unittest.TestCase):
    def test_there_is_a_share_and_a_pool_all_the_same(self) -> None:
        self.assertFalse(scaf.managed())
        self.assertEqual(scaf.share(), _cpus.usable())
        with scaf.pool() as pool, scaf.exact():
            self.assertEqual(sum(pool.map(int, "1234")), 10)
            self.assertEqual(pool.limit, scaf.share())

    def test_errors_say_what_to_do_next(self) -> None:
        with self.assertRaisesRegex(scaf.NotManaged, "start the program by `scaf run -- python script.py`"):
            scaf.limit(weight=2)
        before = os.environ.get("SCAF_SOCKET")
        os.environ["SCAF_SOCKET"] = "/nonexistent/scafd.sock"
        try:
            why = "No such file or directory.*`scaf run PROGRAM` starts one"
            with self.assertRaisesRegex(scaf.NoDaemon, why):
                scaf.status()
        finally:
            os.environ.pop("SCAF_SOCKET")
            if before is not None:
                os.environ["SCAF_SOCKET"] = before

    def test_a_strangers_socket_isnt_used(self) -> None:
        path = _daemon.SYSTEM_SOCKET
        _daemon._trust(0, path)
        _daemon._trust(os.geteuid(), path)
        for stranger, elsewhere in ((os.geteuid() + 1, path), (65534, "/tmp/scafd.sock")):
            with self.assertRaisesRegex(OSError, "belongs to another user"):
                _daemon._trust(stranger, elsewhere)

    def test_scripts_are_run_by_this_python_and_other_programs_as_they_are(self) -> None:
        python = sys.executable
        for words, become in (
            ("train.py --max 3", f"-- {python} train.py --max 3"),
            ("--max 3 --exact train.py", f"--max 3 --exact -- {python} train.py"),
            ("--name=x -- -m pytest", f"--name=x -- {python} -m pytest"),
            ("-m pytest -q", f"-- {python} -m pytest -q"),
            ("./prog a.py", "-- ./prog a.py"),
            ("--help", "--help"),
        ):
            self.assertEqual(" ".join(_run.with_python(words.split())), become)

    def test_quotas_of_all_groups_count(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            proc = root / "proc"
            (root / "a/b").mkdir(parents=True)
            (root / "a/cpu.max").write_text("150000 100000\n")
            (root / "a/b/cpu.max").write_text("max 100000\n")
            (root / "cpu,cpuacct/c").mkdir(parents=True)
            (root / "cpu,cpuacct/c/cpu.cfs_quota_us").write_text("300000")
            (root / "cpu,cpuacct/c/cpu.cfs_period_us").write_text("100000")
            (root / "cpu,cpuacct/cpu.cfs_quota_us").write_text("-1")
            proc.write_text("3:memory:/x\n2:cpu,cpuacct:/c\n0::/a/b\n")
            self.assertEqual(sorted(_cpus._quotas(proc, root)), [1.5, 3.0])
            self.assertEqual(list(_cpus._quotas(root / "none", root)), [])


class Limits(DaemonTestCase):
    @unittest.skipUnless(NUMPY, "needs numpy")
    def test_limits_only_say_what_obeys_and_are_undone(self) -> None:
        lines = self.run_script(
            """
import ctypes, numpy, os, scaf, threading
from scaf import _setters
blas = next(one for one in _setters.setters() if one.name == "BLAS")
state = lambda: print(blas.get(), sorted({len(os.sched_getaffinity(tid)) for tid in _setters.threads()}))
numpy.ones((300, 300)) @ numpy.ones((300, 300))
state()
with scaf.limit(max=1) as limit:
    print("1 of 2 threads" in limit.obeyed[0], "affinity: 1 of 2 CPUs" in limit.obeyed[-1])
    print(str(limit).splitlines()[0])
    state()
state()
""",
            managed=False,
        )
        only = "limits only: at most 1 CPUs, by this process itself; no daemon knows of it"
        self.assertEqual(lines, ["2 [2]", "True True", only, "1 [1]", "2 [2]"])

    def test_a_notebook_that_runs_already_gets_a_share(self) -> None:
        program = self.start(
            SHELL
            + """
import scaf, time
print(scaf.managed())
scaf.load_ipython_extension(shell)
def cell():
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        pass
    return scaf.share()
for _ in range(2):
    wanted = int(input())
    deadline = time.monotonic() + 20
    while shell.cell(cell) != wanted:
        assert time.monotonic() < deadline
    print(scaf.share(), flush=True)
scaf.unload_ipython_extension(shell)
print(shell.hooks)
scaf.load_ipython_extension(shell)
scaf.unload_ipython_extension(shell)
""",
            managed=False,
        )
        assert program.stdin and program.stdout
        self.assertEqual(program.stdout.readline(), "False\n")
        self.assertIn("limits only, and by a daemon", program.stdout.readline())
        neighbour = self.neighbour()
        program.stdin.write("1\n")
        program.stdin.flush()
        lines = iter(program.stdout.readline, "")
        self.assertIn("1\n", lines)
        neighbour.communicate()
        printed, _ = program.communicate("2\n")
        self.assertTrue(printed.startswith("2\n{}\nscaf: limits only, and by a daemon"), printed)

    @unittest.skipUnless(importlib.util.find_spec("sklearn"), "needs scikit-learn")
    def test_openmp_and_blas_of_a_notebook_follow(self) -> None:
        self.neighbour()
        lines = self.run_script(
            SHELL
            + """
import scaf, sklearn.cluster, time
from scaf import _setters
mine = [one for one in _setters.setters() if one.mine_only]
print([one.get() for one in mine] == [2] * len(mine), len(mine) > 0)
scaf.load_ipython_extension(shell)
deadline = time.monotonic() + 20
while shell.cell(lambda: [one.get() for one in mine]) != [1] * len(mine):
    assert time.monotonic() < deadline
scaf.unload_ipython_extension(shell)
print([one.get() for one in mine] == [2] * len(mine))
""",
            managed=False,
        )
        self.assertEqual((lines[0], lines[-1]), ("True True", "True"))

    def test_without_a_library_a_notebook_is_told_what_is_left(self) -> None:
        words = [sys.executable, "-c", SHELL + "import scaf; scaf.load_ipython_extension(shell)"]
        env = self.environment(SCAF_LIB="/nonexistent/libscaf.so")
        told = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
        self.assertIn("no share for this process", told)
        self.assertIn("`with scaf.limit(max=2):` is obeyed all the same (limits only)", told)
