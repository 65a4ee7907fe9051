#!/usr/bin/env bash
# Measures Keel against named peers, in release, both in turn in one run.
#
#     Scripts/bench.sh                            every group
#     Scripts/bench.sh storage                    one group: analytics, cache, files, http, lint, listen,
#                                                 logging, postgresql, repositories, security, server or storage
#     Scripts/bench.sh storage --json FILE        also writes the numbers to a file
#
# The arguments are those of keel-bench; exits with its code. A measure that lacks something on
# this machine, such as a counter of instructions, says so in its row. The group lint has a program of
# its own, so that nobody builds swift-syntax for the others; it runs when it is named.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build test bench
if [ "${1:-}" = "lint" ]; then
    shift
    keel_say "Building the benchmark of the linter in release"
    keel_build_product Lint keel-lint-bench -c release
    sources="$(keel_scratch)/checkouts/GRDB.swift"
    [ -d "$sources" ] || keel_swift package --package-path "$KEEL_ROOT" resolve >&2
    exec "$KEEL_BINARY" "$sources" "$@"
fi
keel_use_python
keel_say "Building the benchmarks in release"
keel_build_product Benchmarks keel-bench-server -c release
keel_build_product Benchmarks keel -c release
keel_build_product Benchmarks keel-bench -c release
exec "$KEEL_BINARY" "$@"
