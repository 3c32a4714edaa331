"""joblib: ask for the share before each batch. Its processes, if it has any, are programs of their own to
scaf, so their BLAS and OpenMP threads are counted, too.

scaf run -- python with_joblib.py
"""

import hashlib

import joblib

import scaf


def digest(block: int) -> str:
    return hashlib.pbkdf2_hmac("sha256", b"%d" % block, b"scaf", 20_000).hex()


blocks = range(100)
digests = []
for start in range(0, len(blocks), 25):
    batch = blocks[start : start + 25]
    jobs = joblib.Parallel(n_jobs=scaf.share(), prefer="threads")
    digests += jobs(joblib.delayed(digest)(block) for block in batch)
print(hashlib.sha256("".join(digests).encode()).hexdigest())
