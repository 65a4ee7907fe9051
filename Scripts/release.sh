#!/usr/bin/env bash
# Builds `keel` and `keel-lint` in release and packs them, with the license.
#
#     Scripts/release.sh keel-linux-x86_64.tar.gz
#
# On Linux the Swift libraries are linked in, so that the programs need no toolchain; SQLite, zlib
# and libpq come from the system.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "$#" -eq 1 ] || keel_die "release.sh takes the name of the archive to write." \
    "For example: Scripts/release.sh keel-linux-x86_64.tar.gz"
archive="$PWD/${1#"$PWD"/}"
case "$1" in /*) archive="$1" ;; esac

"$KEEL_ROOT/Scripts/setup.sh" build
options=(-c release)
[ "$(uname -s)" != "Linux" ] || options+=(--static-swift-stdlib)
folder="$(mktemp -d "${TMPDIR:-/tmp}/keel-release.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
for package in Tools:keel Lint:keel-lint; do
    keel_say "Building ${package#*:} in release"
    keel_build_product "${package%%:*}" "${package#*:}" "${options[@]}"
    cp "$KEEL_BINARY" "$folder/"
done
cp "$KEEL_ROOT/LICENSE" "$folder/"
tar -C "$folder" -czf "$archive" .
keel_note "$archive: $(tar -tzf "$archive" | grep -c keel) programs, $(wc -c <"$archive") bytes."
