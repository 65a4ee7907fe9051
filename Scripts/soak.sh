#!/usr/bin/env bash
# Runs what takes too long for every change, such as thousands of crashes, in release.
#
#     Scripts/soak.sh                every soak run
#     Scripts/soak.sh storage        one of them: kills 10,000 writing processes; --trials N fewer
#
# The arguments are those of keel-soak; exits with its code.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build
keel_say "Building the soak runs in release"
keel_build_product Benchmarks keel-soak -c release
exec "$KEEL_BINARY" "$@"
