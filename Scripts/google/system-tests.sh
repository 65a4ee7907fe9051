#!/usr/bin/env bash
# Runs the system tests of Google's Python client for Firestore, unmodified, over REST against
# `keel serve` on SQLite, or on the storage that KEEL_STORAGE names. Needs a network: the tests are part of
# the client's source distribution.
#
# Documentation/Conformance.md has the result; known.txt the tests that do not pass, with reasons.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

here="$KEEL_ROOT/Scripts/google"
"$KEEL_ROOT/Scripts/setup.sh" build test
keel_build_product Tools keel

state="$(cksum <"$here/requirements.txt" | cut -d ' ' -f 1)"
folder="$KEEL_ROOT/.build/google/$state"
if [ ! -f "$folder/complete" ]; then
    keel_say "Fetching google-cloud-firestore and its tests"
    rm -rf "$folder"
    mkdir -p "$folder"
    keel_make_python "$folder/python" "$here/requirements.txt"
    version="$(sed -n 's/^google-cloud-firestore==//p' "$here/requirements.txt")"
    "$folder/python/bin/python" -m pip download --quiet --no-deps --no-binary :all: \
        --dest "$folder" "google-cloud-firestore==$version" >&2
    mkdir "$folder/source"
    tar -xzf "$folder"/google_cloud_firestore-*.tar.gz -C "$folder/source" --strip-components 1
    touch "$folder/complete"
fi

work="$(mktemp -d "${TMPDIR:-/tmp}/keel-google.XXXXXX")"
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

"$KEEL_BINARY" serve --storage "${KEEL_STORAGE:-sqlite:$work/store.sqlite}" --history 1h --port 0 --log-level error \
    >"$work/address" &
server="$!"
keel_address "$server" "$work/address"
address="${KEEL_ADDRESS#http://}"

# run <report> <argument of pytest>... - runs tests; what fails is the verdict's business.
run() {
    local report="$1"
    shift
    (
        cd "$folder/source/tests/system"
        KEEL_ADDRESS="$address" GCLOUD_PROJECT="keel-test" \
            PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1 \
            "$folder/python/bin/python" -m pytest "$@" -p keel_over_rest \
            -p no:cacheprovider --quiet --tb=line --junit-xml="$report" >"$work/log" 2>&1
    ) || true
    [ -f "$report" ] || keel_die "pytest wrote no report:" "$(tail -n 30 "$work/log")"
}

keel_say "Google's system tests, over REST at $address"
# The tests decide by this variable what an emulator cannot do, and need no credentials then.
FIRESTORE_EMULATOR_HOST="$address" run "$work/emulator.xml" test_system.py

keel_say "Those of them that skip themselves with an emulator, as with the service itself"
mapfile -t again < <("$folder/python/bin/python" "$here/verdict.py" skipped "$work/emulator.xml")
run "$work/service.xml" "${again[@]/#/test_system.py::}"

"$folder/python/bin/python" "$here/verdict.py" judge "$here/known.txt" \
    "$work/emulator.xml" "$work/service.xml"
