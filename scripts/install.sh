#!/bin/sh
# Installs what `make build` built below a prefix: scripts/install.sh /usr/local
set -eu
cd "$(dirname "$0")/.."
prefix=${1:?usage: scripts/install.sh PREFIX}
[ -x target/release/scaf ] || {
    echo "install: nothing is built yet; run: make build" >&2
    exit 1
}
install -d "$prefix/bin" "$prefix/include" "$prefix/lib/scaf" "$prefix/share/man/man1" \
    "$prefix/share/man/man8"
install -m 755 target/release/scaf target/release/scafd "$prefix/bin/"
install -m 644 target/release/libscaf.so "$prefix/lib/scaf/"
install -m 644 include/scaf.h "$prefix/include/"
manuals=$(mktemp -d)
trap 'rm -rf "$manuals"' EXIT
target/release/scaf man "$manuals"
for page in "$manuals"/*.1 "$manuals"/*.8; do
    [ -e "$page" ] && install -m 644 "$page" "$prefix/share/man/man${page##*.}/"
done
install -d "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" \
    "$prefix/share/fish/vendor_completions.d"
target/release/scaf completions bash >"$prefix/share/bash-completion/completions/scaf"
target/release/scaf completions zsh >"$prefix/share/zsh/site-functions/_scaf"
target/release/scaf completions fish >"$prefix/share/fish/vendor_completions.d/scaf.fish"
echo "installed below $prefix; for one daemon for all users: packaging/scafd.service"
