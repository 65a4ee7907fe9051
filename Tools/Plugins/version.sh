#!/bin/sh
# version.sh <checkout> <folder>: writes BuildVersion.swift into the folder. Works without git.

set -eu
version="0.1.0"
commit=""
# A folder without a checkout of its own may lie in one of something else.
[ ! -e "$1/.git" ] || commit="$(git -C "$1" rev-parse --short=12 HEAD 2>/dev/null || true)"
if [ -n "$commit" ] && ! git -C "$1" diff --quiet HEAD -- Sources Tools Package.swift 2>/dev/null; then
    commit="$commit, changed"
fi
swift="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/\1/p' | head -n 1 || true)"
text="$version (${commit:-no commit}), Swift ${swift:-unknown}"

mkdir -p "$2"
cat >"$2/new" <<END
/// The output of \`keel --version\`.
enum BuildVersion {
    static let text = "$text"
}
END
# A file that is the same keeps its date: nothing is compiled anew.
if cmp -s "$2/new" "$2/BuildVersion.swift"; then rm "$2/new"; else mv "$2/new" "$2/BuildVersion.swift"; fi
