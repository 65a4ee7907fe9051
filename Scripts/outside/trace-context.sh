#!/usr/bin/env bash
# Runs the W3C's test harness for trace context, unmodified and at its strictest, against the way in which
# Keel passes traces on, level 2 with its flag for random identifiers.
#
#     KEEL_TRACE_CONTEXT=~/trace-context Scripts/check.sh --trace-context
#
# KEEL_TRACE_CONTEXT names a checkout of https://github.com/w3c/trace-context. The harness needs aiohttp, which
# this installs from PyPI into an environment of its own.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

suite="${KEEL_TRACE_CONTEXT:-}"
if [ -z "$suite" ]; then
    keel_note "NOT RUN: the W3C's harness. Set KEEL_TRACE_CONTEXT to a checkout of w3c/trace-context."
    exit 0
fi
[ -f "$suite/test/test.py" ] || keel_die "there is no test/test.py in $suite."
suite="$(cd "$suite" && pwd)"

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_build_product Tools keel-trace-context-service

folder="$KEEL_ROOT/.build/trace-context"
if [ ! -f "$folder/complete" ]; then
    keel_say "Making a virtual environment for the harness"
    rm -rf "$folder"
    mkdir -p "$folder"
    printf 'aiohttp>=3.9\n' >"$folder/requirements.txt"
    keel_make_python "$folder/python" "$folder/requirements.txt"
    touch "$folder/complete"
fi

keel_work keel-trace-context

"$KEEL_BINARY" --port 0 >"$work/address" &
server="$!"
keel_address "$server" "$work/address"

keel_say "The W3C's harness for trace context, with the service at $KEEL_ADDRESS"
cd "$suite/test"
HARNESS_PORT="$(keel_free_port)" STRICT_LEVEL=2 SPEC_LEVEL=2 PYTHONDONTWRITEBYTECODE=1 \
    "$folder/python/bin/python" test.py "$KEEL_ADDRESS/test"
