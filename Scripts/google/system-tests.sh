#!/usr/bin/env bash
# Runs the system tests of Google's Python client for Firestore, unmodified, against `keel serve`: over gRPC, as against
# an emulator, with the synchronous and with the asynchronous client, and over REST. The stores are in SQLite, or with
# --postgresql in a PostgreSQL server of the script's own, which --pgbouncer session or --pgbouncer transaction
# reaches through pgbouncer in that mode. Needs a network: the tests are part of the client's source distribution.
#
# Documentation/Conformance.md has the result; known*.txt the tests that do not pass, with reasons.

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
database=""
pooler=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$pooler" ] || kill "$pooler" 2>/dev/null || true
    if [ -n "$database" ]; then
        exec 9>&-
        wait "$database" || true
    fi
    rm -rf "$work"
}
trap finish EXIT

mode=""
if [ "${1:-}" = --pgbouncer ]; then
    mode="${2:-}"
    case "$mode" in
        session | transaction) ;;
        *) keel_die "--pgbouncer needs a mode: session or transaction." ;;
    esac
fi

if [ "${1:-}" = --postgresql ] || [ -n "$mode" ]; then
    mkfifo "$work/database.input"
    "$KEEL_ROOT/Scripts/postgresql.sh" <"$work/database.input" >"$work/database.port" &
    database="$!"
    # Its input ends with this script, however that ends, and the server with its input.
    exec 9>"$work/database.input"
    keel_address "$database" "$work/database.port"
    port="$KEEL_ADDRESS"
    programs="$("$KEEL_ROOT/Scripts/postgresql.sh" --find)"
fi

# The port at which servers find the database.
store_port="${port:-}"
if [ -n "$mode" ]; then
    command -v pgbouncer >/dev/null || PATH="$PATH:/usr/sbin"
    store_port="$(keel_free_port)"
    cat >"$work/pgbouncer.ini" <<END
[databases]
* = host=127.0.0.1 port=$port user=keel
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $store_port
unix_socket_dir =
auth_type = any
pool_mode = $mode
max_client_conn = 500
default_pool_size = 60
END
    # pgbouncer refuses to run as root, and whoever it becomes must be able to read the file.
    as=()
    if [ "$(id -u)" = 0 ]; then
        chmod 755 "$work"
        as=(-u nobody)
    fi
    pgbouncer -q ${as[@]+"${as[@]}"} "$work/pgbouncer.ini" 9>&- &
    pooler="$!"
    keel_wait_for_port "$store_port" "$pooler"
fi

# serve <name> - starts a server on storage of its own, and leaves its address in `address`.
#
# On PostgreSQL a server has only the Firestore databases that it is told of: those of test__helpers.py.
serve() {
    local storage=("sqlite:$work/$1.sqlite")
    if [ -n "$database" ]; then
        "$programs/createdb" -h 127.0.0.1 -p "$port" -U keel "$1"
        storage=("postgres://keel@127.0.0.1:$store_port/$1"
            --database system-tests-named-db --database enterprise-db-native)
    fi
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    "$KEEL_BINARY" serve --storage "${storage[@]}" --history 1h --port 0 --log-level error \
        >"$work/$1.address" 9>&- &
    server="$!"
    keel_address "$server" "$work/$1.address"
    address="${KEEL_ADDRESS#http://}"
}

# run <report> <argument of pytest>... - runs tests; what fails is the verdict's business.
run() {
    local report="$1"
    shift
    (
        cd "$folder/source/tests/system"
        KEEL_ADDRESS="$address" GCLOUD_PROJECT="keel-test" \
            PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1 \
            "$folder/python/bin/python" -m pytest "$@" \
            -p no:cacheprovider --quiet --tb=line --junit-xml="$report" >"$work/log" 2>&1
    ) || true
    [ -f "$report" ] || keel_die "pytest wrote no report:" "$(tail -n 30 "$work/log")"
}

# judge <least number of passed tests> <list of known failures> <report>... - prints the verdict.
judge() {
    "$folder/python/bin/python" "$here/verdict.py" judge "$@" || failed="yes"
}
failed=""

# The tests decide by FIRESTORE_EMULATOR_HOST what an emulator cannot do, and need no credentials then. The client
# itself speaks gRPC to the address in it.
serve grpc
keel_say "Google's system tests over gRPC at $address, with the synchronous client"
FIRESTORE_EMULATOR_HOST="$address" run "$work/grpc.xml" test_system.py
judge 75 "$here/known-grpc.txt" "$work/grpc.xml"

keel_say "The same with the asynchronous client"
FIRESTORE_EMULATOR_HOST="$address" run "$work/grpc-async.xml" test_system_async.py
judge 72 "$here/known-grpc-async.txt" "$work/grpc-async.xml"

serve rest
keel_say "The same over REST at $address"
FIRESTORE_EMULATOR_HOST="$address" run "$work/emulator.xml" test_system.py -p keel_over_rest

keel_say "Those of them that skip themselves with an emulator, as with the service itself"
mapfile -t again < <("$folder/python/bin/python" "$here/verdict.py" skipped "$work/emulator.xml")
run "$work/service.xml" "${again[@]/#/test_system.py::}" -p keel_over_rest
judge 77 "$here/known.txt" "$work/emulator.xml" "$work/service.xml"

[ -z "$failed" ]
