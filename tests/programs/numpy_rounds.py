"""Rounds of numpy until standard input ends, then lines of key=value. argv: gemm or cholesky; "limit" has
threadpoolctl limit the BLAS to one thread, 0.3 s of 0.6; "fork" has a child do a round now and then."""

import ctypes
import os
import select
import sys
import time

import numpy as np
import threadpoolctl

kind, *extra = sys.argv[1:]
rng = np.random.default_rng(5)
a = rng.standard_normal((500, 500))
spd = a @ a.T + 500 * np.eye(500)


def once():
    return a @ spd if kind == "gemm" else np.linalg.cholesky(spd)


def in_use():
    """The number of threads that OpenBLAS itself goes by."""
    return max(number.value for number in numbers)


with open("/proc/self/maps") as maps:
    paths = {line.split()[-1] for line in maps if "openblas" in line}
numbers = [ctypes.c_int.in_dll(ctypes.CDLL(path), "blas_cpu_number") for path in paths]
controller = threadpoolctl.ThreadpoolController()


def told():
    """What a program that asks is told."""
    return max(info["num_threads"] for info in controller.info() if info["user_api"] == "blas")


reference = once()
counts = dict.fromkeys("rounds wrong different exceeded children child_wrong child_threads".split(), 0)
told_least, told_most, used_most, used_least = 99, 0, 0, 99
print("ready=1", flush=True)
limited, turn = False, 0
while not select.select([0], [], [], 0)[0]:
    if "limit" in extra and time.monotonic() > turn:
        limited, turn = not limited, time.monotonic() + 0.3
    if limited:
        with controller.limit(limits=1, user_api="blas"):
            while time.monotonic() < turn:
                result = once()
                counts["exceeded"] += in_use() > 1 or told() != 1
    else:
        result = once()
        told_least, told_most = min(told_least, told()), max(told_most, told())
        used = in_use()
        if not used_least <= used <= used_most:
            used_least, used_most = min(used_least, used), max(used_most, used)
            print(f"seen={used}", flush=True)
    counts["rounds"] += 1
    # With another number of threads sums are added up in another order: a few last bits.
    counts["wrong"] += not np.allclose(result, reference, rtol=1e-11, atol=1e-9)
    counts["different"] += result.tobytes() != reference.tobytes()
    if "fork" in extra and counts["rounds"] % 20 == 10 and counts["children"] < 20:
        child = os.fork()
        if child == 0:
            threads = in_use()
            right = np.allclose(once(), reference, rtol=1e-11, atol=1e-9)
            os._exit(threads * 2 + (not right))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        counts["children"] += 1
        counts["child_wrong"] += code < 0 or code % 2
        counts["child_threads"] = max(counts["child_threads"], code // 2)
for key, value in counts.items():
    print(f"{key}={value}")
print(f"told={told_least}-{told_most}\nused={used_least}-{used_most}\nlast={in_use()}")
