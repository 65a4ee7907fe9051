#!/usr/bin/env bash
# Shows the Restaurants app, an example on Keel, at work.
#
#     Scripts/demo.sh                  by itself, to the end
#     Scripts/demo.sh --interactive    leaves it running, for you to use
#     Scripts/demo.sh --data FILE      with the restaurants of a JSON Lines file, such as
#                                      Examples/Restaurants/Data/new-york.jsonl
#
# Exits with 0 only if every step of the demonstration held.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KEEL_ROOT/Scripts/setup.sh" build
keel_say "Building the example; the first time takes some minutes"
# The server of the last steps; its program comes to stand beside the example's.
keel_build_product Tools keel
# All its programs, not one product: the demonstration starts the others, which stand beside it.
package="$KEEL_ROOT/Examples/Restaurants"
keel_swift build --package-path "$package" >&2
exec "$(keel_swift build --package-path "$package" --show-bin-path)/restaurants-demo" "$@"
