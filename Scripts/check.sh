#!/usr/bin/env bash
# Checks everything that is not a test.
#
#     Scripts/check.sh                  every step
#     Scripts/check.sh format docs      some steps, in this order
#     Scripts/check.sh --google         the system tests of Google's client against `keel serve`
#     Scripts/check.sh --posthog        PostHog's SDK test harness against the destination for PostHog
#     Scripts/check.sh --cache-tests    the public test suite for HTTP caches through `keel proxy`
#     Scripts/check.sh --autobahn       the Autobahn test suite against the WebSocket client
#     Scripts/check.sh --trace-context  the W3C's test harness for trace context
#
# Steps: format, words, length, docs, lint, bench, traits. Every step runs, also after one that failed.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

checks="$KEEL_ROOT/Scripts/checks"

# The format of STYLE in CONTRIBUTING.md, as .swift-format spells it.
step_format() {
    local files
    files="$(keel_files '*.swift')"
    [ -n "$files" ] || keel_die "there are no Swift files."
    (cd "$KEEL_ROOT" && printf '%s\n' "$files" | tr '\n' '\0' \
        | xargs -0 swift format lint --strict --parallel --configuration .swift-format) \
        || keel_die "the format is not the house's; to repair it: Scripts/format.sh"
}

# What must stand in no file: a machine's paths, and words of the checkout's own list.
step_words() {
    keel_files | "$checks/words.py" "$KEEL_ROOT"
}

# Files stay small enough to read.
step_length() {
    keel_files '*.swift' | "$checks/file-length.py" "$KEEL_ROOT"
}

# Every public symbol is documented, every link in the documentation leads somewhere, and what the page
# about the source documents names is public. With every trait, as the tests build the package; they are
# built too, because SwiftPM asks for all modules.
step_docs() {
    local graphs module
    keel_swift build --package-path "$KEEL_ROOT" "${KEEL_TEST_OPTIONS[@]}" --build-tests
    graphs="$(keel_swift package --package-path "$KEEL_ROOT" --enable-all-traits dump-symbol-graph \
        --minimum-access-level public --skip-synthesized-members \
        | sed -n 's/^Files written to //p' | tail -n 1)"
    [ -d "$graphs" ] || keel_die "SwiftPM wrote no symbol graphs."
    documented_modules | "$checks/doc-coverage.py" "$graphs"
    documented_modules | "$checks/documents.py" "$graphs" \
        "$KEEL_ROOT/Documentation/ComingFromTheDocuments.md"
    # As many at a time as there are processors: docc uses one.
    export -f compile_documentation keel_note keel_die keel_error
    export KEEL_ROOT _keel_red _keel_plain
    documented_modules \
        | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' \
            bash -c 'set -euo pipefail; compile_documentation "$@"' docs '{}' "$graphs"
}

# The modules of the library products, one a line.
documented_modules() {
    keel_swift package --package-path "$KEEL_ROOT" dump-package \
        | "$checks/manifest.py" library-modules
}

# compile_documentation <module> <folder of symbol graphs>
#
# Calls DocC itself, not its SwiftPM plugin: that would be a dependency of every build of Keel.
compile_documentation() {
    local module="$1" graphs="$2" folder place catalog=() docc
    if ! docc="$(command -v docc || xcrun --find docc 2>/dev/null)"; then
        keel_note "This toolchain has no docc: the documentation of $module is not compiled."
        return 0
    fi
    folder="$KEEL_ROOT/.build/docs/$module"
    rm -rf "$folder"
    mkdir -p "$folder/graphs"
    cp "$graphs/$module.symbols.json" "$folder/graphs/"
    find "$graphs" -name "$module@*.symbols.json" -exec cp {} "$folder/graphs/" \;
    for place in "$KEEL_ROOT"/Sources/*/"$module/$module.docc"; do
        [ ! -d "$place" ] || catalog=("$place")
    done
    "$docc" convert ${catalog[@]+"${catalog[@]}"} \
        --additional-symbol-graph-dir "$folder/graphs" \
        --fallback-display-name "$module" \
        --fallback-bundle-identifier "keel.$module" \
        ${KEEL_DOCS_BASE_PATH:+--hosting-base-path "$KEEL_DOCS_BASE_PATH"} \
        --warnings-as-errors \
        --output-path "$folder/$module.doccarchive" >"$folder/log" 2>&1 \
        || keel_die "the documentation of $module does not compile:" "$(cat "$folder/log")"
}

# The layers hold: those of Keel itself and those of the example, with nothing put up with.
step_lint() {
    local folder
    keel_build_product Lint keel-lint
    for folder in . Examples/Restaurants; do
        keel_note "the layers of $folder"
        "$KEEL_BINARY" "$KEEL_ROOT/$folder" --strict --quiet
    done
}

# The package builds with no trait at all. Scripts/test.sh builds it with every trait, and the nested
# packages with the default ones.
step_traits() {
    keel_swift build --package-path "$KEEL_ROOT" --disable-default-traits
}

# The benchmarks compile and run. One round in debug says nothing about speed.
step_bench() {
    keel_build_product Benchmarks keel-bench-server
    keel_build_product Benchmarks keel
    keel_build_product Benchmarks keel-bench
    "$KEEL_BINARY" --quick
}

case "${1:-}" in
    --google) exec "$KEEL_ROOT/Scripts/google/system-tests.sh" ;;
    --posthog) exec "$KEEL_ROOT/Scripts/posthog-harness.sh" ;;
    --cache-tests | --autobahn | --trace-context)
        exec "$KEEL_ROOT/Scripts/outside/${1#--}.sh"
        ;;
esac

"$KEEL_ROOT/Scripts/setup.sh" build test

steps=("$@")
[ "${#steps[@]}" -gt 0 ] || steps=(format words length docs lint bench traits)
for step in "${steps[@]}"; do
    declare -F "step_$step" >/dev/null \
        || keel_die "there is no step '$step'." "The steps are: format, words, length, docs, lint, bench, traits."
done

failed=()
for step in "${steps[@]}"; do
    keel_say "Check: $step"
    started="$SECONDS"
    # Not `step || …`: that would switch off `set -e` inside the step.
    set +e
    (set -e; "step_$step")
    outcome="$?"
    set -e
    [ "$outcome" -eq 0 ] || failed+=("$step")
    keel_note "$step: $([ "$outcome" -eq 0 ] && echo held || echo FAILED), $((SECONDS - started)) s"
done

if [ "${#failed[@]}" -gt 0 ]; then
    keel_die "these checks failed: ${failed[*]}"
fi
keel_say "Every check held: ${steps[*]}"
