#!/bin/sh
# Installs what `make build` built, or what the folder BUILT has, below a prefix:
# [DESTDIR=FOLDER] scripts/install.sh PREFIX
set -eu
cd "$(dirname "$0")/.."
prefix=${1:?usage: [DESTDIR=FOLDER] scripts/install.sh PREFIX}
built=${BUILT:-target/release}
to=${DESTDIR:-}$prefix
[ -x "$built/scaf" ] || {
    echo "install: nothing is built yet; run: make build" >&2
    exit 1
}
version=$(scripts/version.sh)

put() { # MODE FOLDER FILE...: what files of ours name below /usr/local is below the prefix
    mode=$1 folder=$2
    shift 2
    install -d "$to/$folder"
    install -m "$mode" "$@" "$to/$folder/"
}
put_text() { # SOURCE TARGET
    install -d "$to/$(dirname "$2")"
    sed "s|/usr/local/|$prefix/|g; s|@PREFIX@|$prefix|g; s|@VERSION@|$version|g" "packaging/$1" >"$to/$2"
    chmod 644 "$to/$2"
}

put 755 bin "$built/scaf" "$built/scafd"
put 644 lib/scaf "$built/libscaf.so" packaging/verdicts.toml
put 644 include include/scaf.h
put_text scaf.pc.in lib/pkgconfig/scaf.pc
put_text scafd.service lib/systemd/system/scafd.service
put_text scafd.socket lib/systemd/system/scafd.socket
put_text scafd-user.service lib/systemd/user/scafd.service
put_text scafd-user.socket lib/systemd/user/scafd.socket
put_text scaf.sysusers lib/sysusers.d/scaf.conf
put_text scaf.tmpfiles lib/tmpfiles.d/scaf.conf

manuals=$(mktemp -d)
trap 'rm -rf "$manuals"' EXIT
"$built/scaf" man "$manuals"
put 644 share/man/man1 "$manuals"/*.1
put 644 share/man/man8 "$manuals"/*.8
install -d "$to/share/bash-completion/completions" "$to/share/zsh/site-functions" \
    "$to/share/fish/vendor_completions.d"
"$built/scaf" completions bash >"$to/share/bash-completion/completions/scaf"
"$built/scaf" completions zsh >"$to/share/zsh/site-functions/_scaf"
"$built/scaf" completions fish >"$to/share/fish/vendor_completions.d/scaf.fish"
chmod 644 "$to/share/bash-completion/completions/scaf" "$to/share/zsh/site-functions/_scaf" \
    "$to/share/fish/vendor_completions.d/scaf.fish"
[ -n "${DESTDIR:-}" ] ||
    echo "installed below $prefix; for one daemon for all users: systemctl enable --now scafd.socket"
