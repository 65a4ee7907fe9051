#!/bin/sh
# Runs a PostgreSQL server of its own on a free port of 127.0.0.1, for tests and to try things out.
#
#     Scripts/postgresql.sh [--certificates FOLDER] [--standby-of PORT] [name=value…]
#     Scripts/postgresql.sh --find     prints the folder of PostgreSQL's programs, if it is installed
#
# The options are settings of the server, such as fsync=on. A standby copies the server on another port and follows it.
# The certificates (*.crt) and keys (*.key) of a folder are copied beside the data, where ssl_cert_file and ssl_key_file
# find them by their names; everybody must be able to read the keys of the folder.
#
# Prints the port once the server accepts connections, and runs until its standard input ends; then the server is
# ended at once, as by a crash, and its data is removed. KEEL_DATABASE_FOLDER names the folder for the data, /tmp if it
# is not set. The role `keel` may do everything without a password. Three more roles, which do not exist at first, need
# one: `cautious`; `guarded`, which needs an encrypted connection too; and `dated`, whose password may be an MD5 hash.
#
# PostgreSQL refuses to run as root, so root hands over to nobody.

if [ "$(id -u)" = 0 ]; then
    # Read here: nobody may not enter every folder that root may.
    script="$(cat "$0")"
    cd /tmp || exit 1
    exec setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c "$script" sh "$@"
fi

set -eu

for programs in /usr/lib/postgresql/15/bin /usr/lib/postgresql/16/bin /usr/lib/postgresql/17/bin \
    /usr/lib/postgresql/18/bin /usr/pgsql-17/bin /usr/bin /usr/local/bin \
    /opt/homebrew/opt/postgresql@17/bin /usr/local/opt/postgresql@17/bin; do
    [ ! -x "$programs/initdb" ] || break
done
if [ ! -x "$programs/initdb" ]; then
    echo "error: PostgreSQL is not installed (initdb, postgres): run Scripts/setup.sh test" >&2
    exit 1
fi

if [ "${1:-}" = --find ]; then
    echo "$programs"
    exit
fi

for variable in $(env | sed -n 's/^\(PG[A-Z]*\)=.*/\1/p'); do unset "$variable"; done
folder="$(mktemp -d "${KEEL_DATABASE_FOLDER:-/tmp}/keel-postgresql.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
certificates=
if [ "${1:-}" = --certificates ]; then
    certificates="$2"
    shift 2
fi
if [ "${1:-}" = --standby-of ]; then
    "$programs/pg_basebackup" -h 127.0.0.1 -p "$2" -U keel -D "$folder/data" -R -X stream -c fast --no-sync \
        >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    shift 2
else
    "$programs/initdb" -D "$folder/data" -U keel -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
    printf '%s\n' 'host all cautious 127.0.0.1/32 scram-sha-256' 'hostssl all guarded 127.0.0.1/32 scram-sha-256' \
        'host all guarded 127.0.0.1/32 reject' 'host all dated 127.0.0.1/32 md5' 'host all all 127.0.0.1/32 trust' \
        'host replication all 127.0.0.1/32 trust' >"$folder/data/pg_hba.conf"
fi
if [ -n "$certificates" ]; then
    cp "$certificates"/*.crt "$certificates"/*.key "$folder/data"
    # The server refuses a key that others can read.
    chmod 600 "$folder"/data/*.key
fi
# Only now, because another program may take the port until the server does. It is below the ports that the system
# chooses itself, which other tests on a busy machine would take meanwhile.
port="$(python3 -c '
import random, socket
for port in random.sample(range(10000, 30000), 1000):
    with socket.socket() as attempt:
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break
')"
{
    printf '%s\n' "listen_addresses = '127.0.0.1'" "port = $port" "unix_socket_directories = ''" "fsync = off" \
        "max_connections = 200" "password_encryption = 'scram-sha-256'"
    for setting in "$@"; do printf "%s = '%s'\n" "${setting%%=*}" "${setting#*=}"; done
} >>"$folder/data/postgresql.conf"
"$programs/postgres" -D "$folder/data" >>"$folder/log" 2>&1 &
server=$!
# A server does not say when it is ready.
until "$programs/pg_isready" -q -h 127.0.0.1 -p "$port"; do
    if ! kill -0 "$server" 2>/dev/null; then
        tail -n 5 "$folder/log" >&2
        exit 1
    fi
    sleep 0.02
done
echo "$port"
cat >/dev/null
kill -QUIT "$server"
wait "$server" || true
