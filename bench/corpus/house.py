"""A daemon of one's own in a folder of its own, for as long as a `with` lasts."""

import json
import os
import pathlib
import subprocess
import tempfile
import time


class House:
    binaries = ""

    def __init__(self, policy, *words):
        self.words = ["--policy", policy, *words]

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="scaf-corpus-")
        folder = pathlib.Path(self.temporary.name)
        (folder / "scafd.toml").write_text("count_load = false\n")
        self.socket = str(folder / "s.sock")
        ours = ("OMP_", "GOMP_", "KMP_", "SCAF_")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        for name in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            self.env[name] = str(folder)
        self.env["SCAF_SOCKET"] = self.socket
        scafd = [f"{self.binaries}/scafd", "--session", "--idle-exit", "0", "--socket", self.socket]
        scafd += ["--config", str(folder / "scafd.toml"), *self.words]
        self.log = open(folder / "log", "wb")
        self.daemon = subprocess.Popen(scafd, env=self.env, stdin=subprocess.DEVNULL, stderr=self.log)
        deadline = time.monotonic() + 10
        while self.programs() is None:
            if time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError("scafd doesn't answer")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait()
        self.log.close()
        self.temporary.cleanup()

    def programs(self):
        """What `scaf ps --json` says of the programs; None if nobody answers."""
        done = subprocess.run([f"{self.binaries}/scaf", "ps", "--json"], env=self.env, capture_output=True)
        return json.loads(done.stdout)["programs"] if done.returncode == 0 else None

    def managed(self, *words):
        """What starts a program in this house, before its own words."""
        return [f"{self.binaries}/scaf", "run", *words, "--"]

    @classmethod
    def doctor(cls, program):
        done = subprocess.run([f"{cls.binaries}/scaf", "doctor", "--json", program], capture_output=True)
        return json.loads(done.stdout)["program"]

    @classmethod
    def machine(cls):
        done = subprocess.run([f"{cls.binaries}/scaf", "doctor", "--json"], capture_output=True)
        said = json.loads(done.stdout)
        return {"machine": said["machine"], "version": said["version"]}
