"""The recipes of the corpus: read from projects.toml, and checked for what they have to have."""

import pathlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent

# How a project is compiled: the C, C++ and Fortran compilers, and the flags for all three.
BUILDS = {
    "gcc-O1": ("gcc", "g++", "gfortran", "-O1 -fopenmp"),
    "gcc-O2": ("gcc", "g++", "gfortran", "-O2 -fopenmp"),
    "gcc-O3": ("gcc", "g++", "gfortran", "-O3 -fopenmp"),
    "gcc-native": ("gcc", "g++", "gfortran", "-O3 -march=native -fopenmp"),
    "clang": ("clang", "clang++", None, "-O2 -fopenmp"),
}
SOURCES = {"debian", "pypi", "system"}
TEXTS = {"about", "debian", "pypi", "system", "version", "build", "input", "run"}
LISTS = {"libraries", "builds", "output", "drop"}
FLAGS = {"sort", "silent"}
NEEDED = ("about", "build", "run")


def load(file=HERE / "projects.toml"):
    """All recipes by name, each with a value for every key that isn't a text."""
    recipes = tomllib.loads(file.read_text())
    for recipe in recipes.values():
        recipe.setdefault("builds", list(BUILDS))
        for key in LISTS:
            recipe.setdefault(key, [])
        for key in FLAGS:
            recipe.setdefault(key, False)
    return recipes


def faults(recipes):
    """What is wrong with the recipes, a line each; nothing is fetched or built for that."""
    for name, recipe in recipes.items():
        for key, value in recipe.items():
            kinds = [(TEXTS, str), (LISTS, list), (FLAGS, bool)]
            kind = next((kind for keys, kind in kinds if key in keys), None)
            if kind is None:
                yield f"{name}: there is no key {key}"
            elif not isinstance(value, kind):
                yield f"{name}: {key} has to be a {kind.__name__}"
        for key in NEEDED:
            if not recipe.get(key):
                yield f"{name}: {key} is missing"
        if len(SOURCES & recipe.keys()) != 1:
            yield f"{name}: needs one of {', '.join(sorted(SOURCES))}"
        if "pypi" in recipe and "version" not in recipe:
            yield f"{name}: a package of PyPI needs a version"
        for build in recipe["builds"]:
            if build not in BUILDS:
                yield f"{name}: there is no build {build}"
        for pattern in recipe["drop"]:
            try:
                re.compile(pattern)
            except re.error as error:
                yield f"{name}: {pattern!r}: {error}"
        if "$OUT" not in recipe.get("build", ""):
            yield f"{name}: what is built has to be $OUT"
        if "$PROGRAM" not in recipe.get("run", ""):
            yield f"{name}: $PROGRAM has to be run"
        for file in re.findall(r"\$DRIVERS/([\w.+-]+)", recipe.get("build", "")):
            if not (HERE / "drivers" / file).is_file():
                yield f"{name}: drivers/{file} is missing"
        if "://" in str(recipe):
            yield f"{name}: packages are named, not addresses"
