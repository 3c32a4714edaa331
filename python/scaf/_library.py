"""The client library in this process, by ctypes: the functions of scaf.h. `scaf run` puts it there before the
program starts; `load` brings it into a process that runs already."""

from __future__ import annotations

import ctypes
import os
from typing import Optional

from .errors import Error, NotManaged


class Work(ctypes.Structure):
    """`struct scaf_work`: parallel work that goes on."""

    _fields_ = [("opaque", ctypes.c_uint64 * 8)]


class Library:
    """libscaf's functions. See scaf.h for what each does."""

    def __init__(self, loaded: ctypes.CDLL) -> None:
        self.dop = loaded.scaf_dop
        self.dop.argtypes, self.dop.restype = [ctypes.c_uint32], ctypes.c_uint32
        self.wait = loaded.scaf_wait
        self.wait.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int32]
        self.wait.restype = ctypes.c_uint32
        self.begin = loaded.scaf_begin
        self.begin.argtypes = [ctypes.POINTER(Work), ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint32]
        self.begin.restype = None
        self.end = loaded.scaf_end
        self.end.argtypes, self.end.restype = [ctypes.POINTER(Work), ctypes.c_uint64], None
        self._register = loaded.scaf_register
        self._register.argtypes, self._register.restype = [ctypes.c_char_p, ctypes.c_uint32], ctypes.c_uint32
        self._unregister = loaded.scaf_unregister
        self._unregister.argtypes, self._unregister.restype = [ctypes.c_uint32], None
        self._managed = loaded.scaf_managed
        self._managed.argtypes, self._managed.restype = [], ctypes.c_int
        # The libraries of versions before 0.2 don't have it.
        self._exact = getattr(loaded, "scaf_exact", None)

    def register(self, name: str, threads: int) -> int:
        """A new pool's number; 0 if there are too many pools."""
        return int(self._register(name.encode(), min(threads, 65_535)))

    def unregister(self, pool: int) -> None:
        self._unregister(pool)

    def managed(self) -> bool:
        return bool(self._managed())

    def exact(self, on: bool) -> None:
        if self._exact is None:
            raise Error(
                "the libscaf in this process is older than this module and has no scaf_exact; install the "
                "same version of both, or use `scaf run --exact`"
            )
        self._exact.argtypes, self._exact.restype = [ctypes.c_int], None
        self._exact(int(on))


_found: Optional[Library] = None
#: Whether `load` brought it, and not `scaf run`.
late = False


def here() -> Optional[Library]:
    """The library, if it is in this process."""
    global _found
    if _found is None:
        everything = ctypes.CDLL(None)
        if hasattr(everything, "scaf_api_version"):
            _found = Library(everything)
    return _found


def need() -> Library:
    library = here()
    if library is None:
        from .errors import BY_SCAF_RUN

        raise NotManaged(f"this process runs without scaf; {BY_SCAF_RUN}")
    return library


def load(path: str) -> Library:
    """Brings the library into the process, for good. Regions of OpenMP stay unmanaged, since it comes after
    their runtime."""
    global _found, late
    library = here()
    if library is None:
        late = True
        library = _found = Library(ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL))
    return library
