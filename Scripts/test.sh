#!/usr/bin/env bash
# Runs the tests of every package.
#
#     Scripts/test.sh                          everything
#     Scripts/test.sh . Tools                  of these packages: "." is Keel itself, "scripts" are the tests
#                                              of the scripts
#     Scripts/test.sh --filter OverrideTests   some tests; options go to `swift test`
#
# KEEL_THOROUGH=1 makes tests that repeat something at random do so several times as often, as in the nightly
# run. Documentation/Conformance.md has the numbers.
#
# Exits with 0 only when every test passed at its first try. One that failed, or hung until the run was
# ended, is run once more: if it passes then, it is named as one that depends on chance, and the run has
# failed all the same. See Scripts/checks/run-tests.py. Ends with how long each run took, what the failed
# ones said of their failures, and the number of tests that the runs report.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What there is to test, in the order of the runs: packages with the same traits follow each other.
known=(scripts .)
while IFS= read -r folder; do known+=("$folder"); done < <(keel_nested_packages)
known+=(Tests/Apple Tests/SwiftUI)

chosen=()
while [ "$#" -gt 0 ]; do
    case "$1" in -*) break ;; esac
    [[ " ${known[*]} " == *" ${1%/} "* ]] \
        || keel_die "there is no package '$1'." "The packages are: ${known[*]}"
    chosen+=("${1%/}")
    shift
done
if [ "${#chosen[@]}" -eq 0 ]; then
    chosen=("${known[@]}")
    if [ "$#" -gt 0 ]; then
        keel_note "Options given: the tests of the scripts themselves are left out."
        chosen=("${known[@]:1}")
    fi
fi

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_use_python

failed_runs=()
timings=()
reports="$(mktemp -d "${TMPDIR:-/tmp}/keel-test.XXXXXX")"
trap 'rm -rf "$reports"' EXIT

# record <what> <seconds> <log> <exit code>: keeps the result of a run for the summary.
record() {
    local what="$1" log="$3" outcome="passed"
    if [ "$4" -ne 0 ]; then
        outcome="FAILED"
        failed_runs+=("$what")
        awk -f "$KEEL_ROOT/Scripts/checks/failures.awk" "$log" >"$reports/failures-of-one"
        [ -s "$reports/failures-of-one" ] || tail -n 20 "$log" >"$reports/failures-of-one"
        cat "$reports/failures-of-one" >>"$reports/failures"
    fi
    timings+=("$(printf '%-36s %-7s %5d s' "$what" "$outcome" "$2")")
}

# attempt <what> <command>: runs it, keeps what it prints for the summary, and goes on.
attempt() {
    local what="$1" started="$SECONDS" log="$reports/${#timings[@]}.log" code=0
    shift
    "$@" 2>&1 | tee "$log" || code=1
    record "$what" "$((SECONDS - started))" "$log" "$code"
}

# Runs the tests of the scripts side by side: most of their time is SwiftPM's, which uses one processor.
run_scripts() {
    local script name started="$SECONDS" codes="$reports/codes"
    mkdir "$codes"
    for script in "$KEEL_ROOT"/Scripts/tests/*; do
        name="${script##*/}"
        (
            code=0
            "$script" >"$reports/$name.log" 2>&1 || code=1
            printf '%s %s\n' "$code" "$((SECONDS - started))" >"$codes/$name"
        ) &
    done
    wait
    for script in "$KEEL_ROOT"/Scripts/tests/*; do
        name="${script##*/}"
        cat "$reports/$name.log"
        read -r code seconds <"$codes/$name"
        record "Scripts/tests/$name" "$seconds" "$reports/$name.log" "$code"
    done
}

# run <package folder> [options]
run() {
    local folder="$1" beside=() pattern
    shift
    if [ "$folder" = "." ]; then keel_say "Tests of keel"; else keel_say "Tests of $folder"; fi
    # Groups, each a process, those that take the longest first. Those with a pattern compute, or wait for the
    # disk or for Google's emulator, which holds locks for minutes. A filter of the caller's would be widened by
    # a second one.
    case "$folder $*" in
        ". --no-parallel")
            for pattern in \
                'StorageFirestoreTests[.]Emulator' 'StoragePostgreSQLTests[.]' \
                'StorageFirestoreTests[.](?!Emulator)' \
                '(HTTPCaching|Serving[A-Za-z]*|Storage(Adapting|Observability)?|Sync)Tests[.]' \
                '(Cache|Conformance)Tests[.]' 'StorageSQLiteTests[.]' \
                '(Analytics|AnalyticsHTTP|Core|Files|Journal|Logging|LoggingOTLP|Secrets|Security[A-Za-z]*)Tests[.]'; do
                beside+=(--beside "^Keel$pattern")
            done
            beside+=(--beside '^KeelTests[.]')
            ;;
        "Tools --no-parallel")
            beside=(
                --beside '[.](LongReplyMemory|MalformedRequest)Tests/'
                --beside '^Keel(DocumentTools|FileTools|SecurityTools|TransferPeer)Tests[.]'
            )
            ;;
    esac
    KEEL_TEST_RUNNER=(
        "$KEEL_ROOT/Scripts/checks/run-tests.py" "$reports/${#timings[@]}.counts"
        ${beside[@]+"${beside[@]}"} --
    )
    attempt "tests of $folder" keel_test "$folder" "$@"
}

for folder in "${chosen[@]}"; do
    case "$folder" in
        scripts) run_scripts ;;
        # One test after the other in each process: tests of handshakes and time limits on real sockets fail
        # when many that only compute take the processors, and thousands of connections at a time leave none
        # for other tests.
        . | Tools) run "$folder" --no-parallel "$@" ;;
        # The code for Apple's systems, beside stand-ins for their modules. Each in a scratch folder of
        # its own: they compile the package's sources into modules of the same names.
        Tests/Apple | Tests/SwiftUI)
            if [ "$(uname -s)" = "Linux" ]; then
                KEEL_SCRATCH_PATH="$(keel_scratch)-${folder##*/}" run "$folder" "$@"
            else
                keel_note "NOT RUN: $folder, whose stand-ins would hide the system's own modules."
            fi
            ;;
        *)
            if [ -d "$KEEL_ROOT/$folder/Tests" ]; then
                run "$folder" "$@"
            else
                keel_say "Build of $folder, which has no tests"
                attempt "build of $folder" keel_swift build --package-path "$KEEL_ROOT/$folder"
            fi
            ;;
    esac
    # These need what has just been compiled; later it would be compiled anew.
    case "$folder" in
        Benchmarks)
            [ "$#" -gt 0 ] || attempt "one round of the benchmarks" "$KEEL_ROOT/Scripts/check.sh" bench
            ;;
        Tools)
            [ "$#" -gt 0 ] || attempt "Scripts/install.sh" "$KEEL_ROOT/Scripts/checks/install.sh"
            ;;
        # What `keel init` makes has the traits of this consumer.
        Tests/Consumers/Swift6Mode)
            attempt "keel init" "$KEEL_ROOT/Scripts/checks/new-app.sh" "$@"
            ;;
    esac
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
