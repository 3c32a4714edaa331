"""A pool of Python threads that follows its grant: scaf run python3 examples/pool.py BLOCKS
(docs/guide/api.md)."""
import ctypes, hashlib, os, sys, threading  # noqa: E401

scaf, threads = ctypes.CDLL(None), len(os.sched_getaffinity(0))
there = hasattr(scaf, "scaf_register")  # else nobody limits us
pool = scaf.scaf_register(b"hashes", threads) if there else 0
limit, change, blocks, digests = threads, threading.Condition(), list(range(int(sys.argv[1]))), {}

def take(mine):
    with change:
        change.wait_for(lambda: mine < limit or not blocks)
        change.notify_all()
        return blocks.pop() if blocks else None

def work(mine):
    while (block := take(mine)) is not None:
        digests[block] = hashlib.pbkdf2_hmac("sha256", b"%d" % block, b"scaf", 20_000)  # others run meanwhile

def follow():
    global limit
    while there and blocks:
        now = scaf.scaf_wait(pool, limit, 200)  # here, too
        with change:
            limit = now
            change.notify_all()

running = [threading.Thread(target=work, args=(mine,)) for mine in range(threads)]
running.append(threading.Thread(target=follow))
[thread.start() for thread in running], [thread.join() for thread in running]
print(hashlib.sha256(b"".join(digests[block] for block in sorted(digests))).hexdigest())
