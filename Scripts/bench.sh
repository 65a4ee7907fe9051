#!/usr/bin/env bash
# Measures Keel against named peers, in release, both in turn in one run.
#
#     Scripts/bench.sh                            every group
#     Scripts/bench.sh storage                    one group: analytics, cache, files, http,
#                                                 logging, security, server or storage
#     Scripts/bench.sh storage --json FILE        also writes the numbers to a file
#
# The arguments are those of keel-bench; exits with its code. A measure that lacks something on
# this machine, such as a counter of instructions, says so in its row.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build test bench
keel_use_python
keel_say "Building the benchmarks in release"
keel_build_product Benchmarks keel-bench-server -c release
keel_build_product Benchmarks keel -c release
keel_build_product Benchmarks keel-bench -c release
exec "$KEEL_BINARY" "$@"
