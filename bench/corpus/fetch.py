"""Fetches and builds what a recipe names, below build/corpus, by the package managers' own clients."""

import os
import pathlib
import shutil
import subprocess
import sys

from recipes import BUILDS, HERE

ROOT = HERE.parents[1] / "build" / "corpus"


class Failed(Exception):
    """What couldn't be fetched or built, in a line."""


def call(words, log, **options):
    """Runs a command, its output into the log file; what failed is said by the log's last line."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, **options)
    if done.returncode != 0:
        lines = log.read_text(errors="replace").strip().splitlines()
        errors = [line for line in lines if "rror" in line] or lines or ["no word"]
        raise Failed(f"{errors[-1].strip()[:160]} ({log.relative_to(ROOT)})")


def apt(log, sources, *words, **options):
    """apt-get with folders of its own. With `sources`, it knows source packages, as the system may not."""
    state = ROOT / "apt"
    parts = state / "parts"
    # Hosts are the system's own: its lists, rewritten.
    if not parts.exists():
        for folder in [parts, state / "lists" / "partial", state / "cache" / "archives" / "partial"]:
            folder.mkdir(parents=True)
        system = pathlib.Path("/etc/apt")
        files = [system / "sources.list", *sorted((system / "sources.list.d").glob("*"))]
        for file in files:
            text = file.read_text() if file.is_file() else ""
            lines = text.splitlines()
            if file.suffix == ".sources" and "/debian" in text:
                lines = ["Types: deb-src" if line.startswith("Types:") else line for line in lines]
            elif file.suffix == ".list" and "/debian" in text:
                lines = ["deb-src" + line[3:] for line in lines if line.startswith("deb ")]
            else:
                continue
            (parts / file.name).write_text("\n".join(lines) + "\n")
    settings = [f"Dir::Cache={state / 'cache'}", "APT::Sandbox::User=root"]
    if sources:
        settings += ["Dir::Etc::sourcelist=none", f"Dir::Etc::sourceparts={parts}"]
        settings += [f"Dir::State::lists={state / 'lists'}"]
    options_given = [word for setting in settings for word in ("-o", setting)]
    call(["apt-get", "-q", *options_given, *words], log, **options)


def unpack(archive, folder):
    """An archive's files, without the folder that they all lie in."""
    folder.mkdir(parents=True)
    call(["tar", "xf", archive, "-C", folder, "--strip-components=1"], ROOT / "log" / "tar.log")


def only(folder, *patterns):
    found = sorted({file for pattern in patterns for file in folder.glob(pattern)})
    if not found:
        raise Failed(f"no archive came into {folder.relative_to(ROOT)}")
    return found[0]


def from_debian(name, recipe, folder, log):
    # The authors' archive without Debian's patches: it is there where the others are missing, too.
    archives = ROOT / "archives" / name
    archives.mkdir(parents=True, exist_ok=True)
    if not list((ROOT / "apt" / "lists").glob("*Sources*")):
        apt(log, True, "update")
    apt(log, True, "source", "--download-only", "--tar-only", recipe["debian"], cwd=archives)
    unpack(only(archives, "*.orig.tar.gz", "*.orig.tar.xz", "*.orig.tar.bz2"), folder)


def from_pypi(name, recipe, folder, log):
    # pip asks an archive for its metadata before it leaves it, which takes what it is built with.
    python = ROOT / "venv" / "bin" / "python"
    if not python.exists():
        call([sys.executable, "-m", "venv", ROOT / "venv"], log)
        tools = ["setuptools", "setuptools_scm", "wheel", "numpy", "cython", "pybind11", "nanobind"]
        tools += ["scikit-build-core", "meson-python", "hatchling", "cmake", "ninja"]
        call([python, "-m", "pip", "install", "-q", *tools], log)
    archives = ROOT / "archives" / name
    words = [python, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "-d", archives]
    package = f"{recipe['pypi']}=={recipe['version']}"
    try:
        call([*words, "--no-build-isolation", package], log)
    except Failed:
        call([*words, package], log)
    unpack(only(archives, "*.tar.gz"), folder)


def libraries(recipe, log):
    """Development packages that the project needs, in a folder of their own; the system stays as it is."""
    root = ROOT / "libraries"
    for package in recipe["libraries"]:
        done = root / f".{package}"
        if done.exists():
            continue
        folder = ROOT / "packages" / package
        folder.mkdir(parents=True, exist_ok=True)
        apt(log, False, "download", package, cwd=folder)
        call(["dpkg-deb", "-x", only(folder, "*.deb"), root], log)
        done.touch()


def fetch(name, recipe):
    """The project's source, in a folder that isn't built in."""
    folder = ROOT / "source" / name
    log = ROOT / "log" / f"{name}.log"
    libraries(recipe, log)
    if folder.exists():
        return folder
    if "debian" in recipe:
        from_debian(name, recipe, folder, log)
    elif "pypi" in recipe:
        from_pypi(name, recipe, folder, log)
    else:
        folder.mkdir(parents=True)
    return folder


def build(name, recipe, kind):
    """The program of one project, built in one way."""
    program = ROOT / "programs" / name / kind / name
    if program.exists():
        return program
    source = fetch(name, recipe)
    folder = ROOT / "build" / name / kind
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True)
    program.parent.mkdir(parents=True, exist_ok=True)
    log = ROOT / "log" / f"{name}-{kind}.log"
    log.unlink(missing_ok=True)
    try:
        call(["sh", "-euc", recipe["build"]], log, cwd=folder, env=surroundings(kind, program))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not program.exists():
        raise Failed("the build made no program")
    return program


def surroundings(kind, program):
    """What a recipe's commands may name, and where compilers look for libraries."""
    cc, cxx, fc, flags = BUILDS[kind]
    env = dict(os.environ, CC=cc, CXX=cxx, FLAGS=flags, OUT=str(program), DRIVERS=str(HERE / "drivers"))
    env["FC"] = fc or "false"
    root = ROOT / "libraries" / "usr"
    folders = [root / "lib" / "x86_64-linux-gnu", root / "lib"]
    env["LIBS"] = str(folders[0])
    env["CPATH"] = f"{root / 'include'}:{root / 'include' / 'x86_64-linux-gnu'}"
    env["LIBRARY_PATH"] = env["LD_LIBRARY_PATH"] = ":".join(map(str, folders))
    return env


def given(name, recipe, kind):
    """The folder that one program runs in, with what it reads."""
    folder = ROOT / "run" / name / kind
    done = folder / ".given"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if "input" in recipe:
            env = dict(os.environ, MAKE=f"{sys.executable} {HERE / 'inputs.py'}")
            env |= {"SOURCE": str(ROOT / "source" / name), "DRIVERS": str(HERE / "drivers")}
            log = ROOT / "log" / f"{name}-{kind}-input.log"
            call(["sh", "-euc", recipe["input"]], log, cwd=folder, env=env)
        done.touch()
    return folder
