#!/usr/bin/env bash
# Runs what takes too long for every change, such as thousands of crashes.
#
#     Scripts/soak.sh                every soak run
#     Scripts/soak.sh analytics      kills 10,000 processes that track and deliver, and stops a simulated
#                                    one at 100,000 steps
#     Scripts/soak.sh cache          10,000 crashes of the disk tier, 200 kills of its writer and 200
#                                    of an outbox's, 1,000,000 races in memory
#     Scripts/soak.sh files          stops a folder's store at 40,000 changes, by kills and power failures,
#                                    and kills its writer 500 times
#     Scripts/soak.sh journal        kills 10,000 writers of a journal, and stops it at 500,000 steps,
#                                    each by a kill and by a power failure
#     Scripts/soak.sh listen         100,000 simulated clients of Firestore's Listen, and as many that lose documents
#     Scripts/soak.sh passwords      hashes 200 passwords at the usual cost, in release, with Keel, with
#                                    argon2-cffi and with the reference's own program
#     Scripts/soak.sh postgresql     1,000,000 changes of eight racing writers, and as many beside a reader of a
#                                    standby, 100,000 commits at three servers behind nginx, one of which is killed
#                                    each second, 500 kills of the server of a stream, and failovers
#     Scripts/soak.sh sanitizers     the suites whose tasks share state, with ThreadSanitizer and with
#                                    AddressSanitizer; not a part of "every soak run"
#     Scripts/soak.sh secrets        kills 2,000 writers of an encrypted file of secrets
#     Scripts/soak.sh server         kills keel serve 100 times while clients write to it
#     Scripts/soak.sh storage        kills 10,000 writing processes, in release, --trials N fewer; then 10,000
#                                    rounds of several processes on one file, and 2,000 power failures
#     Scripts/soak.sh transfers      kills each side of downloads and uploads 120 times, downloads and
#                                    uploads 1 GiB, and tries 20,000 schedules of faults
#     Scripts/soak.sh http           100,000 schedules of faults, 100,000 random event streams,
#                                    10,000 orders of sign-in events, 50,000 schedules of users of a
#                                    cache and 1,000,000 of stacks of layers
#
# The arguments after "storage" and "passwords" are those of keel-soak. KEEL_CACHE_CRASHES,
# KEEL_KILLS and KEEL_CACHE_RACES change the numbers of "cache"; KEEL_SCHEDULES, KEEL_SSE_STREAMS,
# KEEL_AUTH_SEEDS, KEEL_USER_SCHEDULES and KEEL_STACK_SCHEDULES change the numbers of "http", KEEL_SEED and
# KEEL_SSE_SEED repeat a run.
# KEEL_FILES_CRASHES and KEEL_KILLS change the numbers of "files"; KEEL_CROWD_ROUNDS and KEEL_POWER_POINTS
# those of "storage"; KEEL_RACED_CHANGES, KEEL_FLEET_COMMITS and KEEL_FLEET_KILLS those of "postgresql".
# KEEL_THOROUGH is set, for amounts without a variable of their own.
# KEEL_TRANSFER_KILLS, KEEL_TRANSFER_SERVER_KILLS, KEEL_TRANSFER_CUTS, KEEL_TRANSFER_SEEDS and
# KEEL_TRANSFER_MIB change the numbers of "transfers".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

soak_storage() {
    keel_say "Building the soak runs in release"
    keel_build_product Benchmarks keel-soak -c release
    "$KEEL_BINARY" storage "$@"
    keel_say "Many processes on one file, and power failures, for a long time"
    KEEL_CROWD_ROUNDS="${KEEL_CROWD_ROUNDS:-10000}" \
        KEEL_POWER_POINTS="${KEEL_POWER_POINTS:-2000}" \
        keel_test . --filter '^KeelStorageSQLiteTests\.(CrowdTests|PowerTests)/'
}

# The suites whose tasks share state, with smaller numbers: a sanitizer makes programs slow, and finds what two tasks
# do to each other, not what one does for the ten-thousandth time. Each sanitizer compiles everything anew, in a
# folder of its own.
#
# Reports go into files, since nobody reads what the processes say that the tests start and kill.
soak_sanitizers() {
    local suites='^(KeelCore|KeelArgon2|KeelCBOR|KeelCache|KeelHTTP|KeelHTTPAuthentication|KeelHTTPCaching|KeelHTTPCookies|KeelJournal|KeelDocuments|KeelStorage|KeelStorageSQLite|KeelSync)Tests\.'
    local package=(--package-path "$KEEL_ROOT" "${KEEL_TEST_OPTIONS[@]}") sanitizer options source object
    local reports="$KEEL_ROOT/.build/sanitizers"
    keel_use_python
    export KEEL_CACHE_CRASHES="${KEEL_CACHE_CRASHES:-1000}"
    export KEEL_CROWD_ROUNDS="${KEEL_CROWD_ROUNDS:-10}"
    export KEEL_JOURNAL_POINTS="${KEEL_JOURNAL_POINTS:-2000}"
    export KEEL_KILLS="${KEEL_KILLS:-10}"
    export KEEL_POWER_POINTS="${KEEL_POWER_POINTS:-5}"
    export KEEL_SCHEDULES="${KEEL_SCHEDULES:-400}"
    export KEEL_SSE_STREAMS="${KEEL_SSE_STREAMS:-2000}"
    export KEEL_STACK_SCHEDULES="${KEEL_STACK_SCHEDULES:-400}"
    export KEEL_USER_SCHEDULES="${KEEL_USER_SCHEDULES:-100}"
    rm -rf "$reports"
    mkdir -p "$reports"
    for sanitizer in thread address; do
        export KEEL_SCRATCH_PATH="$KEEL_ROOT/.build/sanitize-$sanitizer"
        options=(--sanitize "$sanitizer" "${package[@]}")
        if [ "$sanitizer" = thread ] && [ "$(uname -s)" = Linux ]; then
            # Named by its source: SwiftPM links anew for another name, not for other contents.
            source="$KEEL_ROOT/Scripts/sanitizers/thread.c"
            object="$reports/thread-$(cksum <"$source" | cut -d ' ' -f 1).o"
            clang -O2 -fPIC -c "$source" -o "$object"
            options+=(-Xlinker "$object" -Xlinker --wrap=__tsan_external_write)
        fi
        keel_say "Testing with the sanitizer '$sanitizer'"
        # Reports name lines.
        KEEL_INCREMENTAL=1 keel_swift build --build-tests "${options[@]}"
        TSAN_OPTIONS="history_size=4 log_path=$reports/report" \
            ASAN_OPTIONS="detect_leaks=0 log_path=$reports/report" \
            swift test --skip-build --scratch-path "$KEEL_SCRATCH_PATH" --disable-build-manifest-caching \
            "${options[@]}" --no-parallel --filter "$suites" || tests_failed "$reports"
        ! compgen -G "$reports/report.*" >/dev/null || tests_failed "$reports"
    done
}

# Ends a run of the sanitizers, and shows what they reported.
tests_failed() {
    cat "$1"/report.* 2>/dev/null || true
    keel_die "a test failed, or the sanitizer reported something." "Its reports, if any, are above and in $1."
}

soak_passwords() {
    keel_say "Building the comparison of passwords in release"
    keel_use_python
    keel_build_product Benchmarks keel-soak -c release
    "$KEEL_BINARY" passwords "$@"
}

# These are tests that run for every change too, with larger numbers.
soak_http() {
    keel_say "Simulating HTTP for a long time"
    KEEL_SCHEDULES="${KEEL_SCHEDULES:-100000}" \
        KEEL_SSE_STREAMS="${KEEL_SSE_STREAMS:-100000}" \
        KEEL_AUTH_SEEDS="${KEEL_AUTH_SEEDS:-10000}" \
        KEEL_USER_SCHEDULES="${KEEL_USER_SCHEDULES:-50000}" \
        KEEL_STACK_SCHEDULES="${KEEL_STACK_SCHEDULES:-1000000}" \
        keel_test . \
        --filter '^(KeelHTTPTests\.(SimulationTests|EventFormatTests)|KeelHTTPAuthenticationTests\.AuthExplorerTests|KeelHTTPCachingTests\.(StackSimulationTests|UserSimulationTests))/'
}

# As with "http".
soak_cache() {
    local cache='KeelCacheTests\.(CrashPointTests|DiskKillTests|RaceTests)'
    keel_say "Crashing caches for a long time"
    KEEL_CACHE_CRASHES="${KEEL_CACHE_CRASHES:-10000}" \
        KEEL_KILLS="${KEEL_KILLS:-200}" \
        KEEL_CACHE_RACES="${KEEL_CACHE_RACES:-1000000}" \
        keel_test . \
        --filter "^($cache|KeelSyncTests\.OutboxCrashTests)/"
}

# As with "http".
soak_files() {
    keel_say "Crashing folders of files for a long time"
    KEEL_FILES_CRASHES="${KEEL_FILES_CRASHES:-40000}" \
        KEEL_KILLS="${KEEL_KILLS:-500}" \
        keel_test . \
        --filter '^KeelFilesTests\.(CrashPointTests|KillTests)/'
}

# As with "http".
soak_journal() {
    keel_say "Crashing journals for a long time"
    KEEL_KILLS="${KEEL_KILLS:-10000}" \
        KEEL_JOURNAL_POINTS="${KEEL_JOURNAL_POINTS:-500000}" \
        keel_test . \
        --filter '^KeelJournalTests\.(CrashPointTests|KillTests)/'
}

# As with "http".
soak_analytics() {
    keel_say "Crashing analytics for a long time"
    KEEL_KILLS="${KEEL_KILLS:-10000}" \
        KEEL_ANALYTICS_POINTS="${KEEL_ANALYTICS_POINTS:-100000}" \
        keel_test . \
        --filter '^KeelAnalyticsTests\.(CrashPointTests|KillTests)/'
}

# As with "http".
soak_secrets() {
    keel_say "Killing writers of secrets for a long time"
    KEEL_KILLS="${KEEL_KILLS:-2000}" keel_test . --filter '^KeelSecretsTests\.SecretFileKillTests/'
}

# As with "http"; the IETF's protocol has its peer in the package of the tools.
soak_transfers() {
    keel_say "Killing transfers for a long time"
    keel_use_python
    export KEEL_TRANSFER_KILLS="${KEEL_TRANSFER_KILLS:-120}"
    export KEEL_TRANSFER_SERVER_KILLS="${KEEL_TRANSFER_SERVER_KILLS:-120}"
    export KEEL_TRANSFER_CUTS="${KEEL_TRANSFER_CUTS:-1000}"
    export KEEL_TRANSFER_SEEDS="${KEEL_TRANSFER_SEEDS:-20000}"
    export KEEL_TRANSFER_MIB="${KEEL_TRANSFER_MIB:-1024}"
    keel_test . --filter '^KeelHTTPTransfersTests\.'
    keel_test Tools --filter '^KeelTransferPeerTests\.'
}

soak_listen() {
    keel_say "Simulating clients of Firestore's Listen for a long time"
    KEEL_LISTEN_RUNS="${KEEL_LISTEN_RUNS:-100000}" \
        keel_test . --filter '^KeelServingTests\.(ListenSessionTests|ListenHubSimulationTests)/'
}

# As with "http".
soak_server() {
    keel_say "Killing a server under load"
    KEEL_SERVER_KILLS="${KEEL_SERVER_KILLS:-100}" \
        keel_test Tools \
        --filter '^KeelToolsTests\.ServerKillTests/'
}

# As with "http"; the servers are in the package of the tools.
soak_postgresql() {
    keel_say "Racing writers of PostgreSQL and killing its servers for a long time"
    KEEL_RACED_CHANGES="${KEEL_RACED_CHANGES:-1000000}" \
        keel_test . \
        --filter '^KeelStoragePostgreSQLTests\.(CommitTests|CutConnectionTests|FailoverTests|TornPageTests)/'
    KEEL_FLEET_COMMITS="${KEEL_FLEET_COMMITS:-100000}" \
        KEEL_FLEET_KILLS="${KEEL_FLEET_KILLS:-500}" \
        keel_test Tools --filter '^KeelToolsTests\.(ServerFleetTests|ServerFleetListenTests)/'
}

"$KEEL_ROOT/Scripts/setup.sh" build test
[ "${1:-}" = sanitizers ] || export KEEL_THOROUGH=1
case "${1:-}" in
    "")
        soak_analytics
        soak_storage
        soak_http
        soak_cache
        soak_files
        soak_journal
        soak_listen
        soak_passwords
        soak_postgresql
        soak_secrets
        soak_server
        soak_transfers
        ;;
    analytics) soak_analytics ;;
    cache) soak_cache ;;
    files) soak_files ;;
    http) soak_http ;;
    journal) soak_journal ;;
    listen) soak_listen ;;
    passwords)
        shift
        soak_passwords "$@"
        ;;
    postgresql) soak_postgresql ;;
    sanitizers) soak_sanitizers ;;
    secrets) soak_secrets ;;
    server) soak_server ;;
    storage)
        shift
        soak_storage "$@"
        ;;
    transfers) soak_transfers ;;
    *) keel_die "there is no soak run '$1'." "The runs are: analytics, cache, files, http, journal, listen, passwords, postgresql, sanitizers, secrets, server, storage, transfers." ;;
esac
