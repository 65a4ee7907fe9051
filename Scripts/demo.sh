#!/usr/bin/env bash
# Shows the Restaurants app, an example on Keel, at work.
#
#     Scripts/demo.sh                  by itself, to the end
#     Scripts/demo.sh --interactive    leaves it running, for you to use
#     Scripts/demo.sh --data FILE      with the restaurants of a JSON Lines file, such as
#                                      Examples/Restaurants/Data/new-york.jsonl
#
# The server of the last steps is compiled while the first ones run.
#
# Exits with 0 only if every step of the demonstration held.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build
# The folder of what this run leaves for the demonstration: the messages of both builds, and the server's path.
folder="$(mktemp -d "${TMPDIR:-/tmp}/keel-demo.XXXXXX")"
server_build=""
clean_up() {
    [ -z "$server_build" ] || kill -- "-$server_build" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT

# All its programs, not one product: the demonstration starts the others, which are beside it.
package="$KEEL_ROOT/Examples/Restaurants"
keel_say "Compiling the example"
keel_swift build --package-path "$package" 2>&1 | keel_progress "$folder/example.log" \
    || keel_die "the example does not compile; see the messages above."
programs="$(keel_swift build --package-path "$package" --show-bin-path)"

# `keel` is put beside the example's programs. The demonstration reads its path, or why there is none.
# In a process group of its own, so that the end of this script ends the compiler too.
set -m
(
    if nice bash -c '. "$0"; keel_build_product Tools keel; printf "%s\n" "$KEEL_BINARY"' \
        "$KEEL_ROOT/Scripts/lib.sh" >"$folder/path" 2>"$folder/server.log"; then
        mv "$folder/path" "$folder/server"
    else
        grep -a 'error: ' "$folder/server.log" | head -n 5 >"$folder/path" || true
        echo "error: keel does not compile; to see why: swift build --package-path Tools" >>"$folder/path"
        mv "$folder/path" "$folder/server"
    fi
) &
server_build="$!"
set +m
postgresql=()
if "$KEEL_ROOT/Scripts/postgresql.sh" --find >/dev/null 2>&1; then
    postgresql=(--postgresql "$KEEL_ROOT/Scripts/postgresql.sh")
else
    keel_note "PostgreSQL is not installed (Scripts/setup.sh test): the step with it is left out."
fi
code=0
"$programs/restaurants-demo" --server "$folder/server" ${postgresql[@]+"${postgresql[@]}"} "$@" || code="$?"
exit "$code"
