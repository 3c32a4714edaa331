#!/bin/sh
# Prints the version, which stands in one place: the workspace's Cargo.toml.
set -eu
cd "$(dirname "$0")/.."
sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml
