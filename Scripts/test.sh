#!/usr/bin/env bash
# Runs every test of every package.
#
#     Scripts/test.sh                          everything
#     Scripts/test.sh --filter OverrideTests   some; the arguments go to `swift test`
#
# Exits with 0 only when every run passed. Ends with the number of tests that the runs report.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_use_python

failed_runs=()
reports="$(mktemp -d "${TMPDIR:-/tmp}/keel-test.XXXXXX")"
trap 'rm -rf "$reports"' EXIT

# run <package folder> [arguments]
run() {
    local folder="$1"
    shift
    if [ "$folder" = "." ]; then keel_say "Tests of keel"; else keel_say "Tests of $folder"; fi
    keel_swift test --package-path "$KEEL_ROOT/$folder" \
        --xunit-output "$reports/$(printf '%s' "$folder" | tr '/.' '--').xml" "$@" \
        || failed_runs+=("$folder")
}

if [ "$#" -eq 0 ]; then
    "$KEEL_ROOT/Scripts/tests/false-green.sh" || failed_runs+=("Scripts/tests/false-green.sh")
else
    keel_note "Arguments given: Scripts/tests/false-green.sh is left out."
fi

# What is off unless asked for has tests too. One after the other: tests of handshakes and time
# limits on real sockets do not stand being starved by those that only compute.
run . --enable-all-traits --no-parallel "$@"
while IFS= read -r folder <&3; do
    if [ -d "$KEEL_ROOT/$folder/Tests" ]; then
        run "$folder" "$@"
    else
        keel_say "Build of $folder, which has no tests"
        keel_swift build --package-path "$KEEL_ROOT/$folder" || failed_runs+=("$folder")
    fi
done 3< <(keel_nested_packages)

"$KEEL_ROOT/Scripts/checks/test-count.py" "$reports" || true
if [ "${#failed_runs[@]}" -gt 0 ]; then
    keel_die "not everything passed:" "${failed_runs[@]}"
fi
