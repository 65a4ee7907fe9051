#!/usr/bin/env bash
# Runs every test of every package.
#
#     Scripts/test.sh                          everything
#     Scripts/test.sh --filter OverrideTests   some; the arguments go to `swift test`
#
# Exits with 0 only when every test passed at its first try. One that failed, or hung until the run was
# ended, is run once more: if it passes then, it is named as one that depends on chance, and the run has
# failed all the same. See Scripts/checks/run-tests.py. Ends with how long each run took, what the failed
# ones said of their failures, and the number of tests that the runs report.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_use_python

failed_runs=()
timings=()
reports="$(mktemp -d "${TMPDIR:-/tmp}/keel-test.XXXXXX")"
trap 'rm -rf "$reports"' EXIT

# attempt <what> <command>: runs it, keeps what it prints for the summary, and goes on.
attempt() {
    local what="$1" started="$SECONDS" log="$reports/${#timings[@]}.log" outcome="passed"
    shift
    if ! "$@" 2>&1 | tee "$log"; then
        outcome="FAILED"
        failed_runs+=("$what")
        awk -f "$KEEL_ROOT/Scripts/checks/failures.awk" "$log" >"$reports/failures-of-one"
        [ -s "$reports/failures-of-one" ] || tail -n 20 "$log" >"$reports/failures-of-one"
        cat "$reports/failures-of-one" >>"$reports/failures"
    fi
    timings+=("$(printf '%-36s %-7s %5d s' "$what" "$outcome" "$((SECONDS - started))")")
}

# run <package folder> [arguments]
run() {
    local folder="$1" beside=()
    shift
    if [ "$folder" = "." ]; then keel_say "Tests of keel"; else keel_say "Tests of $folder"; fi
    # About half of the time of all targets, and most of what computes. A filter of the caller's would
    # be widened by a second one.
    if [ "$folder $*" = ". --no-parallel" ]; then
        beside=(--beside '^Keel(Cache|Conformance|HTTPCaching|Storage[A-Za-z]*)Tests[.]')
    fi
    KEEL_TEST_RUNNER=(
        "$KEEL_ROOT/Scripts/checks/run-tests.py" "$reports/${#timings[@]}.counts"
        ${beside[@]+"${beside[@]}"} --
    )
    attempt "tests of $folder" keel_test "$folder" "$@"
}

if [ "$#" -eq 0 ]; then
    for script in "$KEEL_ROOT"/Scripts/tests/*; do
        attempt "Scripts/tests/${script##*/}" "$script"
    done
else
    keel_note "Arguments given: the tests of the scripts themselves are left out."
fi

# Two processes, each with one test after the other: tests of handshakes and time limits on real sockets
# do not stand being starved by many that only compute.
run . --no-parallel "$@"
while IFS= read -r folder <&3; do
    if [ "$folder" = "Tools" ]; then
        # Thousands of connections at a time leave other tests none.
        run "$folder" --no-parallel "$@"
    elif [ -d "$KEEL_ROOT/$folder/Tests" ]; then
        run "$folder" "$@"
    else
        keel_say "Build of $folder, which has no tests"
        attempt "build of $folder" keel_swift build --package-path "$KEEL_ROOT/$folder"
    fi
    # What `keel init` makes has the traits of this consumer, and costs no other build of Keel.
    if [ "$folder" = "Tests/Consumers/Swift6Mode" ]; then
        attempt "keel init" "$KEEL_ROOT/Scripts/checks/new-app.sh" "$@"
    fi
done 3< <(keel_nested_packages)

# What is written for Apple's systems, beside stand-ins for their modules. Each in a scratch folder of its
# own: they compile the package's sources into modules of the same names.
for name in Apple SwiftUI; do
    if [ "$(uname -s)" = "Linux" ]; then
        KEEL_SCRATCH_PATH="$KEEL_ROOT/.build/stand-ins/$name" run "Tests/$name" "$@"
    else
        keel_note "NOT RUN: Tests/$name, whose stand-ins would hide the system's own modules."
    fi
done

keel_say "Runs"
printf '%s\n' "${timings[@]}"
grep -h -A 8 'PASSED ONLY' "$reports"/*.log || true
{ cat "$reports"/*.counts 2>/dev/null || true; } | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END { if (NR) printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
'
if [ "${#failed_runs[@]}" -gt 0 ]; then
    keel_say "What the failed runs said"
    cat "$reports/failures"
    keel_die "not everything passed:" "${failed_runs[@]}"
fi
