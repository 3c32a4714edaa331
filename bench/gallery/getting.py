"""Installs what a program of the gallery needs and makes what it reads; all but apt's packages below
build/gallery."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from entries import HERE

ROOT = HERE.parents[1] / "build" / "gallery"
INPUTS = HERE / "inputs.py"
INSTALL_S, PREPARE_S = 900, 600


class Failed(Exception):
    """What couldn't be done, in a line."""


def surroundings(name, env=None):
    """What a program's commands may name; without what would tell it how to run in parallel."""
    env = dict(os.environ if env is None else env)
    for variable in list(env):
        if variable.startswith(("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "LD_PRELOAD")):
            del env[variable]
    folders = [ROOT / "venv" / "bin", ROOT / "cargo" / "bin", env.get("PATH", "/usr/bin")]
    env |= {"PATH": ":".join(map(str, folders)), "DATA": str(data(name)), "GALLERY": str(HERE)}
    env |= {"INPUTS": f"{sys.executable} {INPUTS}", "LC_ALL": "C.UTF-8", "GOCACHE": str(ROOT / "go")}
    env |= {"MPLCONFIGDIR": str(ROOT / "cache"), "NUMBA_CACHE_DIR": str(ROOT / "cache")}
    return env


def data(name):
    return ROOT / "data" / name


def call(words, limit, **options):
    """Runs a command that has to end well within the limit; everything that it started ends with it."""
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, **options
    ) as child:
        try:
            said, _ = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"{words[0]} doesn't end in {limit:.0f} s") from None
        finally:
            end(child)
    if child.returncode != 0:
        lines = said.decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if "rror" in line] or lines or ["no word"]
        raise Failed(errors[-1].strip()[:200])
    return said.decode(errors="replace")


def end(child):
    """Kills what is left of a session, in whatever process groups it is."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            # Behind the name, which may have brackets: state, parent, group, session.
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == child.pid:
                os.kill(int(folder.name), signal.SIGKILL)
        except (OSError, ValueError):
            pass


def install(packages):
    """All packages of a program, each by its manager's own client."""
    apt = [package for package in packages.get("apt", []) if not has(package)]
    if apt:
        words = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *apt]
        env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        try:
            call(words, INSTALL_S, env=env)
        except Failed:
            # Lists of packages grow old.
            call(["apt-get", "update", "-q"], INSTALL_S)
            call(words, INSTALL_S, env=env)
    if packages.get("pip"):
        python = ROOT / "venv" / "bin" / "python"
        if not python.exists():
            call([sys.executable, "-m", "venv", str(ROOT / "venv")], INSTALL_S)
        call([str(python), "-m", "pip", "install", "-q", "--prefer-binary", *packages["pip"]], INSTALL_S)
    for crate in packages.get("cargo", []):
        name, _, version = crate.partition("@")
        words = ["--locked", "--version", version] if version else ["--locked"]
        target = dict(os.environ, CARGO_TARGET_DIR=str(ROOT / "cargo" / "target"))
        call(["cargo", "install", "-q", "--root", str(ROOT / "cargo"), *words, name], INSTALL_S, env=target)
        shutil.rmtree(ROOT / "cargo" / "target", ignore_errors=True)
    for artifact in packages.get("maven", []):
        words = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}"]
        call([*words, f"-DoutputDirectory={ROOT / 'jars'}"], INSTALL_S, cwd=ROOT)


def has(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True)
    return done.stdout == "install ok installed"


def ready(name, program):
    """Installs a program and prepares it, unless that is done; says what keeps it from that."""
    folder, mark = data(name), data(name) / ".ready"
    parts = {key: program.get(key) for key in ("install", "files", "prepare")}
    wanted = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return
    ROOT.mkdir(parents=True, exist_ok=True)
    install(program.get("install", {}))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file, text in program.get("files", {}).items():
        (folder / file).write_text(text)
    if "prepare" in program:
        call(["sh", "-euc", program["prepare"]], PREPARE_S, cwd=folder, env=surroundings(name))
    mark.write_text(wanted)


def rivals():
    """The spinning pool, built; and where the kernels and the Python of the other rivals are."""
    source, pool = HERE / "rivals" / "pool.c", ROOT / "rivals" / "pool"
    if not pool.exists() or pool.stat().st_mtime < source.stat().st_mtime:
        pool.parent.mkdir(parents=True, exist_ok=True)
        call(["gcc", "-O2", "-pthread", str(source), "-o", str(pool)], PREPARE_S)
    top = HERE.parents[1]
    kernels = top / "build" / "kernels"
    if not (kernels / "cg").exists():
        call(["make", "-C", str(top / "bench" / "kernels"), "one"], PREPARE_S)
    python = top / ".venv" / "bin" / "python"
    if not python.exists():
        raise Failed("LightGBM's environment is missing: run scripts/setup.sh")
    return {"cg": [str(kernels / "cg"), "--class=W", "--repeat=15"],
            "lightgbm": [str(python), str(top / "bench" / "real" / "lightgbm_fit.py")],
            "pool": [str(pathlib.Path(pool))]}
