#!/usr/bin/env bash
# Makes apps with `keel init`, one for the terminal and one with screens, builds them and runs their tests:
# what it makes works at once. The views of the second are compiled beside the stand-in of Tests/SwiftUI.
#
#     Scripts/checks/new-app.sh [test options]

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# The tests of Tools have built it.
KEEL_BINARY="$(keel_scratch)/debug/keel"
[ -x "$KEEL_BINARY" ] || keel_build_product Tools keel
keel="$KEEL_BINARY"
# The linter's own tests have built it.
lint="$(keel_scratch_of Lint)/debug/keel-lint"
if [ ! -x "$lint" ]; then
    keel_build_product Lint keel-lint
    lint="$KEEL_BINARY"
fi
folder="$KEEL_ROOT/.build/new-app"
rm -rf "$folder"
mkdir -p "$folder"

"$keel" init ShoppingList --in "$folder" --keel "$KEEL_ROOT"
"$keel" init ShoppingScreens --ui swiftui --in "$folder" --keel "$KEEL_ROOT"
for app in ShoppingList ShoppingScreens; do
    # Its layers hold.
    "$lint" "$folder/$app" --strict
    keel_test ".build/new-app/$app" "$@"
done

# The program of the new app, and the line that changes its backend.
bin="$(keel_swift build --package-path "$folder/ShoppingList" --show-bin-path)"
export SHOPPING_LIST_FILE="$folder/notes.sqlite"
"$bin/shopping-list" add Buy milk
"$bin/shopping-list" list | grep -q "Buy milk" \
    || keel_die "the new app does not list what was added to it."

# Its views, where there is no SwiftUI: they need nothing of Keel.
if [ "$(uname -s)" = "Linux" ]; then
    views="$folder/views"
    mkdir -p "$views/Sources"
    ln -s "$KEEL_ROOT/Tests/SwiftUI/Sources/SwiftUI" "$views/Sources/SwiftUI"
    for module in Domain UI Views; do
        ln -s "$folder/ShoppingScreens/Sources/ShoppingScreens$module" "$views/Sources/"
    done
    sed -e '/^let package/,$d' "$folder/ShoppingScreens/Package.swift" >"$views/Package.swift"
    cat >>"$views/Package.swift" <<'MANIFEST'
let package = Package(
    name: "views",
    targets: [
        .target(name: "SwiftUI"),
        .target(name: "ShoppingScreensDomain"),
        .target(name: "ShoppingScreensUI", dependencies: ["ShoppingScreensDomain"]),
        .target(
            name: "ShoppingScreensViews",
            dependencies: ["ShoppingScreensDomain", "ShoppingScreensUI", "SwiftUI"]
        ),
    ]
)

for target in package.targets { target.swiftSettings = strict }
MANIFEST
    KEEL_SCRATCH_PATH="$views/.build" keel_swift build --package-path "$views"
fi
