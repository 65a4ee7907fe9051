#!/usr/bin/env bash
# Builds the documentation as a website: the reference of every library, and the guides.
#
#     Scripts/docs.sh                     into .build/docs/site
#     Scripts/docs.sh --base-path keel    for a server that has the site under /keel
#     Scripts/docs.sh --serve             shows it on a free port of this machine until Ctrl-C
#
# The site is static: any web server can serve the folder.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

base="" serves=""
while [ "$#" -gt 0 ]; do
    case "$1" in
        --base-path)
            base="${2:-}"
            [ -n "$base" ] || keel_die "--base-path needs a path, such as: --base-path keel"
            shift
            ;;
        --serve) serves=1 ;;
        *) keel_die "there is no option '$1'." "The options are: --base-path PATH, --serve." ;;
    esac
    shift
done

docc="$(command -v docc || xcrun --find docc 2>/dev/null)" \
    || keel_die "this toolchain has no docc." "Install one from https://swift.org/install, or Xcode."
folder="$KEEL_ROOT/.build/docs"
KEEL_DOCS_SITE=1 KEEL_DOCS_BASE_PATH="$base" "$KEEL_ROOT/Scripts/check.sh" docs

keel_say "Converting the guides"
rm -rf "$folder/Guides" "$folder/site"
"$KEEL_ROOT/Scripts/checks/guides.py" "$KEEL_ROOT" "$folder/Guides/Guides.docc" "$base"
"$docc" convert "$folder/Guides/Guides.docc" \
    --fallback-display-name Guides --fallback-bundle-identifier keel.Guides \
    ${base:+--hosting-base-path "$base"} --warnings-as-errors \
    --output-path "$folder/Guides/Guides.doccarchive" >"$folder/Guides/log" 2>&1 \
    || keel_die "the guides do not compile:" "$(cat "$folder/Guides/log")"

keel_say "Combining the archives"
"$docc" merge "$folder/Guides/Guides.doccarchive" "$folder"/Keel*/*.doccarchive \
    --synthesized-landing-page-name Keel --synthesized-landing-page-kind "Swift package" \
    --synthesized-landing-page-topics-style list \
    --output-path "$folder/site" >"$folder/merge.log" 2>&1 \
    || keel_die "docc could not combine the archives:" "$(cat "$folder/merge.log")"
keel_note "The site is in $folder/site."

if [ -n "$serves" ]; then
    port="$(keel_free_port)"
    keel_say "http://127.0.0.1:$port/documentation"
    exec python3 -m http.server --bind 127.0.0.1 --directory "$folder/site" "$port"
fi
