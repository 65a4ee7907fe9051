#!/usr/bin/env bash
# Measures what each library product costs an app that uses it alone, and writes Documentation/Cost.md.
#
#     Scripts/cost.sh                   programs built in release
#     Scripts/cost.sh debug release     both
#     Scripts/cost.sh page              only the page, from the figures that are there
#
#     KEEL_COST_ONLY=default Scripts/cost.sh release    only one set of traits: a folder of .build/cost/packages
#
# Not a part of the continuous integration: a change of traits compiles Keel anew, so that a whole
# run takes most of an hour on two cores. What has been compiled stays in .build/cost.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

folder="$KEEL_ROOT/.build/cost"
export KEEL_SCRATCH_PATH="$folder/scratch"

# measure <configuration>: one build for each set of traits.
measure() {
    local configuration="$1" name binaries products=()
    while IFS= read -r name; do products+=("$name"); done < <(
        swift package --package-path "$KEEL_ROOT" --scratch-path "$folder/manifest" dump-package \
            | "$KEEL_ROOT/Scripts/checks/manifest.py" library-modules
    )
    mkdir -p "$folder/packages" "$folder/figures"
    "$KEEL_ROOT/Scripts/cost/packages.py" "$KEEL_ROOT" "$folder/packages" "${products[@]}" \
        >"$folder/names"
    while IFS= read -r name; do
        [ "${KEEL_COST_ONLY:-$name}" = "$name" ] || continue
        keel_say "Cost: traits $name, $configuration"
        KEEL_INCREMENTAL=1 \
            keel_swift build --package-path "$folder/packages/$name" -c "$configuration" >&2 </dev/null
        binaries="$(keel_swift build --package-path "$folder/packages/$name" \
            -c "$configuration" --show-bin-path </dev/null)"
        "$KEEL_ROOT/Scripts/cost/measure.py" "$folder/packages/$name" "$KEEL_SCRATCH_PATH" \
            "$binaries" "$configuration" >"$folder/figures/$configuration-$name.json"
    done <"$folder/names"
}

write_page() {
    local state
    state="$(git -C "$KEEL_ROOT" ls-tree -r --long HEAD | awk '{ bytes += $4 } END { print bytes }')"
    swift --version 2>/dev/null | "$KEEL_ROOT/Scripts/cost/page.py" "$folder/figures" "$state" \
        >"$folder/Cost.md"
    mv "$folder/Cost.md" "$KEEL_ROOT/Documentation/Cost.md"
    keel_say "Wrote Documentation/Cost.md"
}

keel_require_swift
configurations=("$@")
[ "${#configurations[@]}" -gt 0 ] || configurations=(release)
for configuration in "${configurations[@]}"; do
    case "$configuration" in
        debug | release) measure "$configuration" ;;
        page) ;;
        *) keel_die "there is no '$configuration'." "Say debug, release, or page." ;;
    esac
done
write_page
