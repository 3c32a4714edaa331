"""Asks the daemon. One packet of JSON each way on its socket; docs/internals/protocol.md says what can be
asked.

As everywhere in scaf, a daemon is trusted only if it is root's or this user's own."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any, List

from .errors import Error, NoDaemon

PATIENCE_S = 2.0
SYSTEM_SOCKET = "/run/scaf/scafd.sock"
#: As whom the kernel shows users that a user namespace doesn't have, the host's root in a container for one.
_UNKNOWN = 65534
_CHUNK = 64 * 1024


def sockets() -> List[str]:
    """Where a daemon may listen, in the order in which they are tried."""
    named = os.environ.get("SCAF_SOCKET")
    if named:
        return [named]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    session = f"{runtime}/scaf" if os.path.isabs(runtime) else f"/tmp/scaf-{os.getuid()}"
    return [SYSTEM_SOCKET, f"{session}/scafd.sock"]


def connect() -> socket.socket:
    """A connection to the daemon.

    Raises NoDaemon.
    """
    reasons = []
    for path in sockets():
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(PATIENCE_S)
        try:
            _trust(os.lstat(path).st_uid, path)
            connection.connect(path)
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            _trust(struct.unpack("3i", peer)[1], path)
            return connection
        except OSError as error:
            connection.close()
            reasons.append(f"{path}: {error.strerror or error}")
    raise NoDaemon(
        f"no daemon answers ({'; '.join(reasons)}); `scaf run PROGRAM` starts one, and so does `systemctl "
        "start scafd`"
    )


def _trust(uid: int, path: str) -> None:
    # Where nobody else can put a socket.
    safe = path in (SYSTEM_SOCKET, os.environ.get("SCAF_SOCKET"))
    if uid not in (0, os.geteuid()) and not (uid == _UNKNOWN and safe and _hides_users()):
        raise OSError(0, f"it belongs to another user ({uid}), so it isn't used")


def _hides_users() -> bool:
    """Whether this process is in a user namespace that has a part of the users only."""
    try:
        with open("/proc/self/uid_map") as users:
            return users.read().split() not in ([], ["0", "0", "4294967295"])
    except OSError:
        return False


def ask(request: Any, key: str) -> Any:
    """What the daemon answers under that key.

    Raises NoDaemon, or Error with the daemon's own words.
    """
    with connect() as connection:
        try:
            connection.sendall(json.dumps(request).encode())
            chunks = iter(lambda: connection.recv(_CHUNK), b"")
            text = b"".join(chunks)
        except socket.timeout:
            raise NoDaemon(
                f"the daemon doesn't answer within {PATIENCE_S:.0f} s: it is stopped or hangs; end it, and "
                "the next `scaf run` starts another one (the system's: `systemctl restart scafd`)"
            ) from None
        except OSError as error:
            raise NoDaemon(f"the daemon ended before it answered ({error.strerror or error})") from None
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {}
    if "error" in answer:
        raise Error(answer["error"])
    if key not in answer:
        raise Error(f"the daemon doesn't understand {request}: it is of another version; restart it")
    return answer[key]
