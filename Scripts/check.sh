#!/usr/bin/env bash
# Checks everything that is not a test.
#
#     Scripts/check.sh                        every step
#     Scripts/check.sh format docs            some steps, in this order
#     Scripts/check.sh --google               the system tests of Google's client against `keel serve` on SQLite
#     Scripts/check.sh --google-postgresql    the same on PostgreSQL
#     Scripts/check.sh --google-pgbouncer     the same behind pgbouncer, in session and in transaction mode
#     Scripts/check.sh --google-go            the integration tests of Google's Go client against `keel serve`
#     Scripts/check.sh --posthog              PostHog's SDK test harness against the destination for PostHog
#     Scripts/check.sh --cache-tests          the public test suite for HTTP caches through `keel proxy`
#     Scripts/check.sh --autobahn             the Autobahn test suite against the WebSocket client
#     Scripts/check.sh --trace-context        the W3C's test harness for trace context
#
# Steps: format, words, length, docs, lint, bench, traits. Every step runs, also after one that failed.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

checks="$KEEL_ROOT/Scripts/checks"

# The format of STYLE in CONTRIBUTING.md, as .swift-format spells it.
#
# Contents that have passed with this configuration and this toolchain are not read again; the scratch folder has
# their list.
step_format() {
    local files left passed
    files="$(keel_files '*.swift')"
    [ -n "$files" ] || keel_die "there are no Swift files."
    cd "$KEEL_ROOT"
    passed="$(keel_scratch)/formatted-$({ cat .swift-format && swift --version 2>&1; } | cksum | tr -d ' ')"
    mkdir -p "$(keel_scratch)"
    touch "$passed"
    paste -d ' ' <(printf '%s\n' "$files" | git hash-object --stdin-paths) <(printf '%s\n' "$files") >"$passed.new"
    left="$({ grep -vxF -f "$passed" "$passed.new" || true; } | cut -d ' ' -f 2-)"
    if [ -n "$left" ]; then
        printf '%s\n' "$left" | tr '\n' '\0' \
            | xargs -0 swift format lint --strict --parallel --configuration .swift-format \
            || keel_die "the format differs from .swift-format; to repair it: Scripts/format.sh"
    fi
    mv "$passed.new" "$passed"
}

# Text that no file may contain: a machine's paths, and words of the checkout's own list.
step_words() {
    keel_files | "$checks/words.py" "$KEEL_ROOT"
}

# Files stay small enough to read.
step_length() {
    keel_files '*.swift' | "$checks/file-length.py" "$KEEL_ROOT"
}

# Every public symbol is documented, every link in the documentation leads somewhere, and what the page
# about the source documents names is public. With every trait, as the tests build the package, and with
# the tests, so that nothing is compiled twice.
step_docs() {
    local graphs modules passed
    keel_swift build --package-path "$KEEL_ROOT" "${KEEL_TEST_OPTIONS[@]}" --build-tests
    modules="$(documented_modules)"
    if [ "$(uname -s)" = "Darwin" ]; then
        graphs="$(keel_swift package --package-path "$KEEL_ROOT" --enable-all-traits dump-symbol-graph \
            --minimum-access-level public --skip-synthesized-members \
            | sed -n 's/^Files written to //p' | tail -n 1)"
    else
        graphs="$(keel_scratch)/symbolgraph"
        extract_graphs "$graphs" <<<"$modules"
    fi
    [ -d "$graphs" ] || keel_die "SwiftPM wrote no symbol graphs."
    "$checks/doc-coverage.py" "$graphs" <<<"$modules"
    "$checks/documents.py" "$graphs" "$KEEL_ROOT/Documentation/ComingFromTheDocuments.md" <<<"$modules"
    # As many at a time as there are processors: docc uses one.
    passed="$(keel_scratch)/documented"
    touch "$passed"
    export -f compile_documentation keel_note keel_die keel_error
    export KEEL_ROOT KEEL_DOCUMENTED="$passed" _keel_red _keel_plain
    xargs -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' \
        bash -c 'set -euo pipefail; compile_documentation "$@"' docs '{}' "$graphs" <<<"$modules"
}

# extract_graphs <folder>: the symbol graphs of the modules that standard input names.
#
# SwiftPM's own `dump-symbol-graph` compiles all modules again, because it has no option to write no index.
extract_graphs() {
    local folder="$1" binaries map options
    # What SwiftPM learns from the library's file for pkg-config.
    options=(-Xcc "-I$(pg_config --includedir)")
    binaries="$(keel_swift build --package-path "$KEEL_ROOT" --show-bin-path)"
    while IFS= read -r map; do
        options+=(-Xcc "-fmodule-map-file=$map")
    done < <(find "$binaries" -maxdepth 2 -path '*.build/module.modulemap' ! -path '*-tool.build/*'
        find "$(keel_scratch)/checkouts" "$KEEL_ROOT/Sources" -path '*/Sources/*/module.modulemap')
    rm -rf "$folder"
    mkdir -p "$folder"
    xargs -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' swift symbolgraph-extract -module-name '{}' \
        -I "$binaries/Modules" -target "$(swiftc -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p')" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$folder" "${options[@]}"
}

# The modules of the library products, one a line.
documented_modules() {
    keel_swift package --package-path "$KEEL_ROOT" dump-package \
        | "$checks/manifest.py" library-modules
}

# compile_documentation <module> <folder of symbol graphs>
#
# Calls DocC itself, not its SwiftPM plugin: that would be a dependency of every build of Keel.
#
# What has passed before, with the same symbols, pages and toolchain, is not compiled again, unless a site is made of
# it; the file KEEL_DOCUMENTED lists what has passed.
compile_documentation() {
    local module="$1" graphs="$2" folder place catalog=() docc contents
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
    contents="$module $({ swift --version 2>&1; find "$folder/graphs" ${catalog[@]+"${catalog[@]}"} -type f \
        -print0 | sort -z | xargs -0 cat; } | cksum | tr -d ' ')"
    if [ -z "${KEEL_DOCS_SITE:-}" ] && grep -qxF "$contents" "$KEEL_DOCUMENTED"; then return 0; fi
    "$docc" convert ${catalog[@]+"${catalog[@]}"} \
        --additional-symbol-graph-dir "$folder/graphs" \
        --fallback-display-name "$module" \
        --fallback-bundle-identifier "keel.$module" \
        ${KEEL_DOCS_BASE_PATH:+--hosting-base-path "$KEEL_DOCS_BASE_PATH"} \
        --warnings-as-errors \
        --output-path "$folder/$module.doccarchive" >"$folder/log" 2>&1 \
        || keel_die "the documentation of $module does not compile:" "$(cat "$folder/log")"
    printf '%s\n' "$contents" >>"$KEEL_DOCUMENTED"
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

# The package builds with the trait of Tests/Consumers/HTTPOnly alone, which has just compiled a half of it, and
# with KEEL_THOROUGH, as in the nightly run, without any trait and with each one alone. Scripts/test.sh builds it
# with every trait, and the nested packages with the default ones.
step_traits() {
    local trait
    keel_swift build --package-path "$KEEL_ROOT" --traits AsyncHTTPClient
    [ -n "${KEEL_THOROUGH:-}" ] || return 0
    keel_note "without any trait"
    keel_swift build --package-path "$KEEL_ROOT" --disable-default-traits
    for trait in $(keel_swift package --package-path "$KEEL_ROOT" dump-package | "$checks/manifest.py" traits); do
        keel_note "with the trait $trait"
        keel_swift build --package-path "$KEEL_ROOT" --traits "$trait"
    done
    keel_note "the tools without PostgreSQL"
    keel_swift build --package-path "$KEEL_ROOT/Tools" --disable-default-traits
}

# The benchmarks compile and run. One round in debug says nothing about speed, so the groups run side by side.
#
# Not product by product: for a product of Benchmarks SwiftPM names Keel's traits in another order than for
# its tests, and compiles all of Keel anew. `keel` is put beside the others.
step_bench() {
    local bench
    keel_build_product Tools keel
    keel_swift build --package-path "$KEEL_ROOT/Benchmarks"
    bench="$(keel_swift build --package-path "$KEEL_ROOT/Benchmarks" --show-bin-path)/keel-bench"
    "$bench" --list | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 "$bench" --quick
}

case "${1:-}" in
    --google) exec "$KEEL_ROOT/Scripts/google/system-tests.sh" ;;
    --google-postgresql) exec "$KEEL_ROOT/Scripts/google/system-tests.sh" --postgresql ;;
    --google-pgbouncer)
        "$KEEL_ROOT/Scripts/google/system-tests.sh" --pgbouncer session
        exec "$KEEL_ROOT/Scripts/google/system-tests.sh" --pgbouncer transaction
        ;;
    --google-go) exec "$KEEL_ROOT/Scripts/google/go-tests.sh" ;;
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
