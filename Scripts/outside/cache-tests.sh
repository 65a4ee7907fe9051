#!/usr/bin/env bash
# Runs the public test suite for HTTP caches, unmodified, through `keel proxy` and `keel proxy --private`,
# ten times each: no run may end the proxy, and none may fail another case than those below.
#
#     KEEL_CACHE_TESTS=~/cache-tests Scripts/check.sh --cache-tests
#
# KEEL_CACHE_TESTS names a checkout of https://github.com/http-tests/cache-tests after `npm install`.
# KEEL_CACHE_TESTS_RUNS is the number of runs, 10 without it. Node 18 or newer runs the suite.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

suite="${KEEL_CACHE_TESTS:-}"
if [ -z "$suite" ]; then
    keel_note "NOT RUN: the cache test suite. Set KEEL_CACHE_TESTS to a checkout of http-tests/cache-tests."
    exit 0
fi
[ -f "$suite/test-engine/cli.mjs" ] || keel_die "there is no test-engine/cli.mjs in $suite."
[ -d "$suite/node_modules" ] || keel_die "the suite's packages are missing." "Run: npm install, in $suite"
command -v node >/dev/null 2>&1 || keel_die "the cache test suite needs node, which is not installed."
suite="$(cd "$suite" && pwd)"

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_build_product Tools keel

work="$(mktemp -d "${TMPDIR:-/tmp}/keel-cache-tests.XXXXXX")"
origin="" proxy=""
finish() {
    for process in $origin $proxy; do kill "$process" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

# The suite's server takes no port 0.
port="$(keel_free_port)"
export npm_config_protocol=http npm_config_port="$port" npm_config_pidfile="$work/pid"
export npm_config_id="" npm_package_config_id=""
cd "$suite"
node test-engine/server/server.mjs >"$work/server" 2>&1 &
origin="$!"
keel_address "$origin" "$work/server"
node --no-warnings test-engine/export.mjs >"$work/tests.json"

for kind in private shared; do
    options=()
    [ "$kind" = shared ] || options=(--private)
    : >"$work/address"
    "$KEEL_BINARY" proxy --origin "http://127.0.0.1:$port" ${options[@]+"${options[@]}"} >"$work/address" &
    proxy="$!"
    keel_address "$proxy" "$work/address"
    for run in $(seq "${KEEL_CACHE_TESTS_RUNS:-10}"); do
        keel_say "Cache test suite, $kind cache, run $run"
        npm_config_base="$KEEL_ADDRESS" node --no-warnings test-engine/cli.mjs >"$work/results.json" \
            || keel_die "the suite could not be run."
        kill -0 "$proxy" 2>/dev/null || keel_die "keel proxy has ended during run $run."
        python3 "$KEEL_ROOT/Scripts/outside/cache-verdict.py" "$work/tests.json" "$work/results.json" \
            "$KEEL_ROOT/Scripts/outside/cache-known.txt" "$kind"
    done
    kill "$proxy"
    wait "$proxy" || true
    proxy=""
done
