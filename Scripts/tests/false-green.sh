#!/usr/bin/env bash
# Proves that packages may share one scratch folder: source that does not compile does not build.
#
# SwiftPM keeps a build manifest in its scratch folder. With two packages on one folder, the
# manifest of the first may answer for the second: "Build complete!" over broken source. This
# makes two tiny packages in a temporary folder, builds both, breaks the second, builds the first
# twice, and expects the second to fail. Then it does the same without the flag that prevents the
# trap, to show that the check can fail; that part decides nothing.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

folder="$(mktemp -d "${TMPDIR:-/tmp}/keel-false-green.XXXXXX")"
trap 'rm -rf "$folder"' EXIT

# package <name> <source>
package() {
    mkdir -p "$folder/$1/Sources/$1"
    cat >"$folder/$1/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "$1", targets: [.target(name: "$1")])
MANIFEST
    printf '%s\n' "$2" >"$folder/$1/Sources/$1/$1.swift"
}

# outcome <build function>: "red" or "green", for the broken package after the other was built.
outcome() {
    local build="$1"
    package House 'public let house = "stands"'
    package Shed 'public let shed = "stands"'
    "$build" House && "$build" Shed \
        || keel_die "two packages that are right do not build; see below." "$(tail -n 20 "$folder/log")"
    package Shed 'public let shed: Int = "does not compile"'
    # Twice: the first build may plan anew, the second leaves a manifest that SwiftPM trusts.
    "$build" House && "$build" House || keel_die "a package that is right does not build any more."
    if "$build" Shed; then printf 'green'; else printf 'red'; fi
}

with_the_flag() {
    KEEL_SCRATCH_PATH="$folder/with" keel_swift build --package-path "$folder/$1" >"$folder/log" 2>&1
}

without_the_flag() {
    swift build --scratch-path "$folder/without" --package-path "$folder/$1" >"$folder/log" 2>&1
}

keel_say "False green: packages on one scratch folder"
seen="$(outcome with_the_flag)"
if [ "$seen" = "red" ] && ! grep -q "cannot convert value" "$folder/log"; then
    keel_die "the broken package failed for another reason:" "$(tail -n 20 "$folder/log")"
fi
[ "$seen" = "red" ] \
    || keel_die "keel_swift built source that does not compile." \
        "See keel_swift in Scripts/lib.sh and decision record 0003."
keel_note "keel_swift: the broken package fails, as it should."

if [ "$(outcome without_the_flag)" = "green" ]; then
    keel_note "without --disable-build-manifest-caching: \"$(grep -o 'Build complete![^)]*)' "$folder/log" | tail -n 1)\" over the same source. The trap is real."
else
    keel_note "without --disable-build-manifest-caching it fails as well: this SwiftPM has no such trap."
fi
