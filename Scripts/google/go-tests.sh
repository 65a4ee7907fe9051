#!/usr/bin/env bash
# Runs the integration tests of Google's Go client for Firestore, unmodified, against `keel serve`, which refuses the
# queries that Google's server would refuse. Client, tests and dependencies come from Debian's golang-google-cloud-dev;
# elsewhere the tests cannot run.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# The tests are found by name: one that a later version of the client adds has to pass, too.
expected=32
sources="/usr/share/gocode"
client="$sources/src/cloud.google.com/go/firestore"

"$KEEL_ROOT/Scripts/setup.sh" build test go
[ -d "$client" ] || keel_die "Google's Go client is not in $client." \
    "Debian's package golang-google-cloud-dev brings it; other systems are not supported."
keel_build_product Tools keel

folder="$KEEL_ROOT/.build/google-go"
mkdir -p "$folder"
keel_say "Building the tests of Google's Go client"
(
    cd "$client"
    GOPATH="$sources" GO111MODULE=off GOCACHE="$folder/cache" go test -c -o "$folder/tests" .
)

keel_work keel-google-go

# The tests want the key of a service account, which the client does not use with FIRESTORE_EMULATOR_HOST.
openssl genrsa 2048 >"$work/private.pem" 2>/dev/null
python3 - "$work" <<'PYTHON'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "key.json").write_text(json.dumps({
    "type": "service_account", "project_id": "keel-test", "client_id": "1", "private_key_id": "1",
    "private_key": (folder / "private.pem").read_text(), "client_email": "tests@keel-test.iam.gserviceaccount.com",
    "token_uri": "http://127.0.0.1:9/token",
}))
PYTHON

storage="${KEEL_STORAGE:-sqlite:$work/store.sqlite}"
"$KEEL_BINARY" serve --storage "$storage" --history 1h --index-mode google --port 0 --log-level error >"$work/address" &
server="$!"
keel_address "$server" "$work/address"

keel_say "Google's integration tests of the Go client at $KEEL_ADDRESS"
FIRESTORE_EMULATOR_HOST="${KEEL_ADDRESS#http://}" \
    GCLOUD_TESTS_GOLANG_FIRESTORE_PROJECT_ID="keel-test" GCLOUD_TESTS_GOLANG_FIRESTORE_KEY="$work/key.json" \
    timeout 300 "$folder/tests" -test.v -test.run '^TestIntegration_' >"$work/log" 2>&1 || true
count() { grep -c "^--- $1: " "$work/log" || true; }
passed="$(count PASS)"
keel_note "$passed passed, $(count FAIL) failed, $(count SKIP) skipped"
if [ "$passed" -lt "$expected" ] || [ "$(count FAIL)" -gt 0 ] || [ "$(count SKIP)" -gt 0 ]; then
    keel_die "$expected tests have to pass:" "$(grep -v '^=== ' "$work/log" | tail -n 40)"
fi
