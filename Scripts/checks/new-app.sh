#!/usr/bin/env bash
# Makes an app with `keel init`, builds it and runs its tests: what it makes works at once.
#
#     Scripts/checks/new-app.sh [test options]

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# The tests of Tools have built it.
KEEL_BINARY="$(keel_scratch)/debug/keel"
[ -x "$KEEL_BINARY" ] || keel_build_product Tools keel
folder="$KEEL_ROOT/.build/new-app"
rm -rf "$folder"
mkdir -p "$folder"
"$KEEL_BINARY" init ShoppingList --in "$folder" --keel "$KEEL_ROOT"

# Its layers hold. The linter's own tests have built it.
lint="$(keel_scratch_of Lint)/debug/keel-lint"
[ -x "$lint" ] || { keel_build_product Lint keel-lint; lint="$KEEL_BINARY"; }
"$lint" "$folder/ShoppingList" --strict

keel_test .build/new-app/ShoppingList "$@"

# The program of the new app, and the line that changes its backend.
bin="$(keel_swift build --package-path "$folder/ShoppingList" --show-bin-path)"
export SHOPPING_LIST_FILE="$folder/notes.sqlite"
"$bin/shopping-list" add Buy milk
"$bin/shopping-list" list | grep -q "Buy milk" \
    || keel_die "the new app does not list what was added to it."
