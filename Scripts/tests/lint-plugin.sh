#!/usr/bin/env bash
# `swift package lint` gives its arguments to an installed keel-lint, fails where that fails, and says what
# to do where there is none. A stand-in plays the linter: nothing of it is built here.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

keel_require_swift
folder="$(mktemp -d "${TMPDIR:-/tmp}/keel-lint-plugin.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
cat >"$folder/keel-lint" <<'STANDIN'
#!/bin/sh
echo "in $PWD: $*"
case "$*" in *--broken*) exit 1 ;; esac
STANDIN
chmod +x "$folder/keel-lint"

# lint [arguments]: what the plugin prints.
lint() {
    keel_swift package --package-path "$KEEL_ROOT" lint "$@" 2>&1
}

printed="$(PATH="$folder:$PATH" lint --strict)" || keel_die "the plugin failed:" "$printed"
case "$printed" in
    *"in $KEEL_ROOT: --strict --cache "*) ;;
    *) keel_die "the linter did not get its arguments:" "$printed" ;;
esac

if printed="$(PATH="$folder:$PATH" lint --broken)"; then
    keel_die "the plugin hid that the linter failed." "$printed"
fi
case "$printed" in
    *"keel-lint ended with 1"*) ;;
    *) keel_die "the plugin does not say how the linter ended:" "$printed" ;;
esac

if printed="$(lint)"; then
    keel_note "NOT RUN: what it says without a linter, because one is installed here."
else
    case "$printed" in
        *"There is no keel-lint on the PATH"*) ;;
        *) keel_die "the plugin gives no advice:" "$printed" ;;
    esac
fi
keel_say "swift package lint starts an installed linter."
