#!/usr/bin/env bash
# Runs what takes too long for every change, such as thousands of crashes.
#
#     Scripts/soak.sh                every soak run
#     Scripts/soak.sh cache          10,000 crashes of the disk tier, 200 kills of its writer and 200
#                                    of an outbox's, 1,000,000 races in memory
#     Scripts/soak.sh storage        kills 10,000 writing processes, in release; --trials N fewer
#     Scripts/soak.sh http           100,000 schedules of faults, 100,000 random event streams and
#                                    10,000 orders of sign-in events
#
# The arguments after "storage" are those of keel-soak. KEEL_CACHE_CRASHES, KEEL_KILLS and
# KEEL_CACHE_RACES change the numbers of "cache"; KEEL_SCHEDULES, KEEL_SSE_STREAMS and
# KEEL_AUTH_SEEDS change the numbers of "http", KEEL_SEED and KEEL_SSE_SEED repeat a run.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

soak_storage() {
    keel_say "Building the soak runs in release"
    keel_build_product Benchmarks keel-soak -c release
    "$KEEL_BINARY" storage "$@"
}

# These are tests that run for every change too, with larger numbers.
soak_http() {
    keel_say "Simulating HTTP for a long time"
    KEEL_SCHEDULES="${KEEL_SCHEDULES:-100000}" \
        KEEL_SSE_STREAMS="${KEEL_SSE_STREAMS:-100000}" \
        KEEL_AUTH_SEEDS="${KEEL_AUTH_SEEDS:-10000}" \
        keel_swift test --package-path "$KEEL_ROOT" \
        --filter '^KeelHTTPTests\.(SimulationTests|EventFormatTests|AuthExplorerTests)/'
}

# As with "http".
soak_cache() {
    local cache='KeelCacheTests\.(CrashPointTests|DiskKillTests|RaceTests)'
    keel_say "Crashing caches for a long time"
    KEEL_CACHE_CRASHES="${KEEL_CACHE_CRASHES:-10000}" \
        KEEL_KILLS="${KEEL_KILLS:-200}" \
        KEEL_CACHE_RACES="${KEEL_CACHE_RACES:-1000000}" \
        keel_swift test --package-path "$KEEL_ROOT" \
        --filter "^($cache|KeelSyncTests\.OutboxCrashTests)/"
}

"$KEEL_ROOT/Scripts/setup.sh" build
case "${1:-}" in
    "")
        soak_storage
        soak_http
        soak_cache
        ;;
    cache) soak_cache ;;
    http) soak_http ;;
    storage)
        shift
        soak_storage "$@"
        ;;
    *) keel_die "there is no soak run '$1'." "The runs are: cache, http, storage." ;;
esac
