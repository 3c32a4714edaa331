#!/bin/sh
# Installs the wheel that scripts/wheel.sh built into a fresh environment, and runs two programs there that
# share two CPUs. The same with uv and pipx where there are any.
set -eu
cd "$(dirname "$0")/.."
wheel=$(ls build/scaf-*.whl 2>/dev/null) || {
    echo "wheel-test: there is no wheel in build/; run: make wheel" >&2
    exit 1
}
wheel=$PWD/$wheel
folder=$(mktemp -d)
daemon=""
finish() {
    [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
# Nothing of this machine's own scaf.
unset SCAF_SOCKET SCAF_LIB PYTHONPATH || true
export XDG_RUNTIME_DIR="$folder" XDG_DATA_HOME="$folder/data" XDG_CACHE_HOME="$folder/cache" HOME="$folder"
cd "$folder"

cat >job.py <<'JOB'
import hashlib, scaf, sys, time
widths = set()
until = time.monotonic() + float(sys.argv[1])
with scaf.pool(2) as pool:
    while time.monotonic() < until:
        list(pool.map(lambda n: hashlib.pbkdf2_hmac("sha256", b"a", b"b", 5000), range(20)))
        widths.add(pool.limit)
assert scaf.managed(), "not managed"
print(scaf.__version__, *sorted(widths))
JOB

co_run() {
    python=$1 scaf=$2
    "$scaf" --version
    timeout 60 "$scaf" run --name first -- "$python" job.py 6 >first &
    first=$!
    sleep 1
    timeout 60 "$python" -m scaf run --name second job.py 3 >second
    daemon=$("$python" -c "import scaf; print(scaf.status().raw['pid'])")
    wait "$first"
    grep -q ' 1' first && grep -q ' 1' second || {
        echo "wheel-test: the two had no share each: $(cat first second)" >&2
        exit 1
    }
    echo "shared: $(cat first), $(cat second)"
    kill "$daemon"
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.1; done
    daemon=""
}

python=${PYTHON:-python3}
start=$(date +%s)
"$python" -m venv plain
plain/bin/pip install -q --disable-pip-version-check --no-index "$wheel"
echo "wheel-test: venv and pip took $(($(date +%s) - start)) s"
co_run plain/bin/python plain/bin/scaf
echo "wheel-test: and a co-run: $(($(date +%s) - start)) s"
plain/bin/scaf doctor || true
plain/bin/pip uninstall -q -y scaf
left=$(find plain -name '*scaf*' ! -name '__pycache__')
[ -z "$left" ] || {
    echo "wheel-test: uninstalling leaves $left" >&2
    exit 1
}

if command -v "${UV:-uv}" >/dev/null; then
    export UV_TOOL_DIR="$folder/uv-tools" UV_TOOL_BIN_DIR="$folder/uv-bin"
    "${UV:-uv}" tool install -q --offline --python "$(command -v "$python")" "$wheel"
    co_run uv-tools/scaf/bin/python uv-bin/scaf
else
    echo "wheel-test: uv isn't here"
fi
if command -v "${PIPX:-pipx}" >/dev/null; then
    export PIPX_HOME="$folder/pipx" PIPX_BIN_DIR="$folder/pipx-bin"
    "${PIPX:-pipx}" install -q --pip-args=--no-index "$wheel" >pipx-log 2>&1 || {
        tail -3 pipx-log >&2
        exit 1
    }
    co_run pipx/venvs/scaf/bin/python pipx-bin/scaf
else
    echo "wheel-test: pipx isn't here"
fi
