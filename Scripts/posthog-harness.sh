#!/usr/bin/env bash
# Runs PostHog's SDK test harness, unmodified, against Keel's destination for PostHog: the suite
# `capture`. Takes two to three minutes.
#
# The harness is on GitHub only. KEEL_POSTHOG_HARNESS names a folder that has it; without one it is
# fetched. What it imports comes from PyPI.
#
# Documentation/AnalyticsDestinations.md has the result; posthog/known.txt the cases that do not pass
# or do not apply, with reasons.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

here="$KEEL_ROOT/Scripts/posthog"
repository="https://github.com/PostHog/posthog-sdk-test-harness"
# Version 1.10.0.
commit="0035b3d81bb9279874082a8b4774620d46ee9ae9"

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_build_product Tools posthog-harness-adapter

state="$(cksum <"$here/requirements.txt" | cut -d ' ' -f 1)"
folder="$KEEL_ROOT/.build/posthog/$state"
if [ ! -f "$folder/complete" ]; then
    keel_say "Making a virtual environment for PostHog's SDK test harness"
    rm -rf "$folder"
    mkdir -p "$folder"
    keel_make_python "$folder/python" "$here/requirements.txt"
    touch "$folder/complete"
fi
python="$folder/python/bin/python"

source="${KEEL_POSTHOG_HARNESS:-$folder/$commit}"
if [ -z "${KEEL_POSTHOG_HARNESS:-}" ] && [ ! -f "$source/complete" ]; then
    keel_say "Fetching PostHog's SDK test harness"
    rm -rf "$source"
    git init --quiet "$source"
    git -C "$source" fetch --quiet --depth 1 "$repository" "$commit" \
        || keel_die "the harness could not be fetched from $repository; see git's message above." \
            "NOT RUN: set KEEL_POSTHOG_HARNESS to a folder that has it."
    git -C "$source" -c advice.detachedHead=false checkout --quiet FETCH_HEAD
    touch "$source/complete"
fi
[ -f "$source/CONTRACT.yaml" ] || keel_die "there is no CONTRACT.yaml in $source."
source="$(cd "$source" && pwd)"

keel_work keel-posthog

TMPDIR="$work" "$KEEL_BINARY" --port 0 >"$work/address" &
server="$!"
keel_address "$server" "$work/address"
address="$KEEL_ADDRESS"

# The harness takes no port 0 for its server.
port="$(keel_free_port)"

keel_say "PostHog's SDK test harness, suite capture, with the adapter at $address"
# The contract is looked for in the working directory.
cd "$source"
export PYTHONPATH="$source/src" PYTHONDONTWRITEBYTECODE=1
# A case that fails ends it with 1; the verdict is below.
"$python" -m posthog_test_harness.cli run --adapter-url "$address" --suite capture \
    --mock-port "$port" --mock-url "http://127.0.0.1:$port" --report "$work/report.json" \
    >"$work/log" 2>&1 || true
[ -f "$work/report.json" ] \
    || keel_die "the harness wrote no report:" "$(tail -n 30 "$work/log")"
"$python" "$here/verdict.py" "$work/report.json" "$here/known.txt"
