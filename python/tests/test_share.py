"""Programs that `scaf run` started."""

import importlib.util
import os
import subprocess
import sys
import unittest

from .daemon_case import ROOT, DaemonTestCase

NUMPY = importlib.util.find_spec("numpy") is not None

#: Waits until an expression is true; told what it was if that doesn't come.
UNTIL = """
import time
def until(look):
    deadline = time.monotonic() + 20
    while not look():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.02)
"""


class Share(DaemonTestCase):
    def test_the_share_is_smaller_beside_another_program_and_whole_without(self) -> None:
        program = self.start(
            UNTIL
            + """
import scaf
print(scaf.share(), flush=True)
until(scaf.managed)
print("managed", flush=True)
for _ in range(2):
    wanted = int(input())
    until(lambda: scaf.share() == wanted)
    print(scaf.share(), scaf.status().me.contexts, flush=True)
"""
        )
        assert program.stdin and program.stdout
        self.assertEqual([program.stdout.readline(), program.stdout.readline()], ["2\n", "managed\n"])
        neighbour = self.neighbour()
        for wanted in (1, 2):
            program.stdin.write(f"{wanted}\n")
            program.stdin.flush()
            self.assertEqual(program.stdout.readline(), f"{wanted} {wanted}\n")
            if wanted == 1:
                neighbour.communicate()
        self.assertEqual(program.wait(), 0)

    def test_limits_count_within_their_block_only(self) -> None:
        lines = self.run_script(
            UNTIL
            + """
import scaf
with scaf.limit(max=1, weight=0.5) as limit:
    print(limit)
    until(lambda: scaf.share() == 1)
    me = scaf.status().me
    print(me.max, me.weight)
until(lambda: scaf.share() == 2)
me = scaf.status().me
print(me.max, me.weight)
for wrong in (dict(min=0), dict(min=3, max=2), dict(weight=0)):
    try:
        scaf.limit(**wrong)
    except scaf.Error as error:
        print(error)
"""
        )
        self.assertEqual(
            lines,
            [
                "scaf.Limit(min=1, max=1, weight=0.5)",
                "1 0.5",
                "None 1.0",
                "min and max are 1 to 65,535 contexts, and a max of 0 is no limit",
                "min 3 is more than max 2",
                "a weight is 0.001 to 1000",
            ],
        )

    def test_what_scaf_run_said_is_what_counts_after_a_block(self) -> None:
        lines = self.run_script(
            "import scaf\nwith scaf.limit(max=2): pass\nprint(scaf.status().me.max)", "--max", "1"
        )
        self.assertEqual(lines, ["1"])


    def test_limits_count_while_there_is_no_daemon_and_under_the_next_one(self) -> None:
        program = self.start(
            UNTIL
            + """
import os, scaf
scaf.share()
until(scaf.managed)
print("managed", flush=True)
input()
with scaf.limit(max=1) as limit:
    print(type(limit).__name__, len(os.sched_getaffinity(0)), flush=True)
input()
def is_told():
    with scaf.limit(max=1) as limit:
        return isinstance(limit, scaf.Limit)
until(is_told)
print("told")
"""
        )
        assert program.stdin and program.stdout
        self.assertEqual(program.stdout.readline(), "managed\n")
        self.daemon.terminate()
        self.daemon.wait(30)
        program.stdin.write("\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "LimitsOnly 1\n")
        self.open()
        printed, _ = program.communicate("\n")
        self.assertEqual(printed, "told\n")

    def test_a_process_finds_itself_from_within_a_container(self) -> None:
        within = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*within, "true"], capture_output=True).returncode != 0:
            self.skipTest("process ids of its own need root")
        script = UNTIL + (
            "import os, scaf\nscaf.share()\nuntil(scaf.managed)\nme = scaf.status().me\n"
            "print(os.getpid() < 10 < me.pid, me.name)"
        )
        self.assertEqual(self.run_script(script, "--name", "mine", within=within), ["True mine"])


class Pool(DaemonTestCase):
    def test_no_more_tasks_compute_than_there_are_contexts_and_all_are_done(self) -> None:
        lines = self.run_script(
            UNTIL
            + """
import hashlib, scaf, threading
lock, running, most = threading.Lock(), 0, 0
def task(n):
    global running, most
    with lock:
        running += 1
        most = max(most, running)
    digest = hashlib.pbkdf2_hmac("sha256", b"%d" % n, b"", 30000)
    with lock:
        running -= 1
    return digest
alone = [hashlib.pbkdf2_hmac("sha256", b"%d" % n, b"", 30000) for n in range(60)]
with scaf.pool(3, name="pictures") as pool:
    print(list(pool.map(task, range(60))) == alone, most)
    most = 0
    with scaf.limit(max=1):
        until(lambda: pool.limit == 1)
        print(list(pool.map(task, range(60))) == alone, most)
    print([one.most for one in scaf.status().me.runtimes if one.file == "pictures"])
"""
        )
        same, most = lines[0].split()
        self.assertEqual(same, "True")
        self.assertLessEqual(int(most), 3)
        self.assertEqual(lines[1:], ["True 1", "[3]"])

    def test_tasks_that_wait_for_each_other_dont_stop_a_narrow_pool(self) -> None:
        lines = self.run_script(
            """
import scaf
with scaf.limit(max=1), scaf.pool(4) as pool:
    def depth(n):
        return pool.submit(depth, n - 1).result() + 1 if n else 0
    print(pool.submit(depth, 3).result())
""",
            "--max",
            "1",
        )
        self.assertEqual(lines, ["3"])

    def test_it_is_an_executor(self) -> None:
        lines = self.run_script(
            """
import concurrent.futures, scaf, threading, time, weakref, gc
pool = scaf.pool(2, initializer=lambda: None)
failed = pool.submit(lambda: 1 / 0)
print(type(failed.exception()).__name__)
hold = threading.Event()
held = [pool.submit(hold.wait) for _ in range(2)]
late = pool.submit(print, "never")
print(late.cancel())
hold.set()
done = concurrent.futures.wait(held)
print(len(done.done), [future.result() for future in concurrent.futures.as_completed(held)])
pool.shutdown()
try:
    pool.submit(print)
except RuntimeError as error:
    print("refused")
# Forty pools, one after the other, where there may be thirty-two at a time; and one that nobody shuts down.
for _ in range(40):
    with scaf.pool(2) as pool:
        assert pool.submit(int, "7").result() == 7
pool = scaf.pool(2)
gone = weakref.ref(pool)
del pool
gc.collect()
print(gone())
last = scaf.pool(2)
last.submit(time.sleep, 0.1)
last.submit(print, "at exit")
"""
        )
        wanted = ["ZeroDivisionError", "True", "2 [True, True]", "refused", "None", "at exit"]
        self.assertEqual(lines, wanted)


@unittest.skipUnless(NUMPY, "needs numpy")
class Numpy(DaemonTestCase):
    def test_within_an_exact_block_results_have_the_bits_that_they_have_without_us(self) -> None:
        script = (
            UNTIL
            + """
import ctypes, hashlib, numpy, scaf
a = numpy.random.default_rng(5).standard_normal((300, 40000))
def product():
    return hashlib.sha256((a @ a.T).tobytes()).hexdigest()
with open("/proc/self/maps") as maps:
    path = next(line.split()[-1] for line in maps if "openblas" in line)
used = ctypes.c_int.in_dll(ctypes.CDLL(path), "blas_cpu_number")
%s
with scaf.exact():
    print(used.value, product())
%s
"""
        )
        alone = self.run_script(script % ("", ""), managed=False)
        self.neighbour()
        narrow = "until(lambda: product() and used.value == 1)"
        beside = self.run_script(script % (narrow, narrow))
        self.assertEqual(alone[0].split()[0], "2")
        self.assertEqual(beside, alone)

    def test_a_process_that_was_narrowed_before_knows_how_many_cpus_it_would_have(self) -> None:
        neighbour = self.neighbour()
        program = self.start(
            UNTIL
            + """
import numpy, os
# What the kernel says: whoever asks for an affinity gets the program's own.
lines = lambda: (line.split() for line in open("/proc/self/status"))
until(lambda: next(words[1] for words in lines() if words[0] == "Cpus_allowed_list:").isdigit())
import scaf
print(scaf.share(), flush=True)
input()
until(lambda: scaf.share() == 2)
print(scaf.share())
"""
        )
        assert program.stdout
        self.assertEqual(program.stdout.readline(), "1\n")
        neighbour.communicate()
        printed, _ = program.communicate("\n")
        self.assertEqual(printed, "2\n")

    def test_threadpoolctl_is_told_the_programs_own_numbers(self) -> None:
        if importlib.util.find_spec("threadpoolctl") is None:
            self.skipTest("needs threadpoolctl")
        script = (
            UNTIL
            + """
import numpy, scaf, threadpoolctl
a = numpy.ones((300, 300))
def numbers():
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]
def granted():
    me = scaf.status().me
    return me and [one.threads for one in me.runtimes if one.name == "OpenBLAS"]
if %s:
    until(lambda: (a @ a) is not None and granted() == [1])
print(numbers())
with threadpoolctl.threadpool_limits(1):
    print(numbers())
print(numbers())
"""
        )
        self.neighbour()
        managed, alone = self.run_script(script % True), self.run_script(script % False, managed=False)
        self.assertEqual(managed, alone)
        self.assertEqual(managed, ["[2]", "[1]", "[2]"])


class Commands(DaemonTestCase):
    def test_python_m_scaf_runs_a_script_with_this_python(self) -> None:
        script = self.folder / "script.py"
        script.write_text("import scaf, sys\nprint(scaf.share(), sys.argv[1:], scaf.status().me.name)\n")
        words = [sys.executable, "-m", "scaf", "run", "--name", "mine", str(script), "--max", "x"]
        done = subprocess.run(words, env=self.environment(), capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "2 ['--max', 'x'] mine\n")

    def test_scaf_run_is_subprocess_run(self) -> None:
        lines = self.run_script(
            """
import scaf, sys
script = "import scaf; scaf.share(); me = scaf.status().me; print(me.max, me.weight)"
done = scaf.run([sys.executable, "-c", script], max=1, weight=2, capture_output=True, text=True, check=True)
print(done.stdout, end="")
print(scaf.run(["false"]).returncode)
""",
            managed=False,
        )
        self.assertEqual(lines, ["1 2.0", "1"])

    def test_the_examples_compute_the_same_managed_or_not(self) -> None:
        examples = sorted((ROOT / "python/examples").glob("*.py"))
        self.assertGreaterEqual(len(examples), 2)
        for example in examples:
            with self.subTest(example.name):
                if "joblib" in example.name and importlib.util.find_spec("joblib") is None:
                    self.skipTest("needs joblib")
                text = example.read_text()
                self.assertEqual(self.run_script(text), self.run_script(text, managed=False))
