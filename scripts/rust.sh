#!/bin/sh
# Fails, and says what to install, where there is no Rust as new as Cargo.toml asks for.
set -eu
cd "$(dirname "$0")/.."
needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null || ! found=$(rustc --version 2>/dev/null); then
    echo "cargo is missing: install Rust $needed or newer (rustup.rs, or your distribution's package)" >&2
    exit 1
fi
found=$(echo "$found" | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')
[ "$(printf '%s\n' "$needed" "$found" | sort -V | head -1)" = "$needed" ] || {
    echo "Rust $found is too old: $needed or newer is needed (rustup update, or rustup.rs)" >&2
    exit 1
}
