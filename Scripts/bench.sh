#!/usr/bin/env bash
# Measures Keel against named peers, in release, in one process.
#
#     Scripts/bench.sh                            every group
#     Scripts/bench.sh storage                    one group
#     Scripts/bench.sh storage --json FILE        also writes the numbers to a file
#
# The arguments are those of keel-bench; exits with its code.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build
keel_say "Building the benchmarks in release"
keel_build_product Benchmarks keel-bench-server -c release
keel_build_product Benchmarks keel-bench -c release
exec "$KEEL_BINARY" "$@"
