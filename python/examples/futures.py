"""concurrent.futures: replace ThreadPoolExecutor by scaf.pool, and its threads follow the share.

scaf run -- python futures.py
"""

import hashlib

import scaf


def digest(block: int) -> str:
    # Lets go of the interpreter's lock, as numpy, zlib and most of what computes do.
    return hashlib.pbkdf2_hmac("sha256", b"%d" % block, b"scaf", 20_000).hex()


with scaf.pool() as pool:
    digests = list(pool.map(digest, range(100)))
print(hashlib.sha256("".join(digests).encode()).hexdigest())
