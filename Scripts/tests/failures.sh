#!/usr/bin/env bash
# Proves that the end of a failed run names its failures, however many errors and known issues come before.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

told="$({
    for number in $(seq 300); do echo "━ Test a() recorded a known issue at A.swift:1:1: Caught error: $number"; done
    echo "✘ Test b() recorded an issue at B.swift:2:2: Expectation failed"
    for number in $(seq 300); do echo "C.swift:$number:1: error: no such name"; done
    echo "✔ Test d() passed"
    echo "==> Failed:"
    echo "    b()  (Module.Suite/b()/B.swift:2:2)"
} | awk -f "$KEEL_ROOT/Scripts/checks/failures.awk")"

expect() { [[ "$told" == *"$1"* ]] || keel_die "the end of a failed run lacks “$1”:" "$told"; }
expect "b() recorded an issue"
expect "Module.Suite/b()"
[[ "$told" != *"known issue"* ]] || keel_die "known issues fill the end of a failed run."
[ "$(wc -l <<<"$told")" -le 110 ] || keel_die "the end of a failed run is too long."
[ -z "$(echo "✔ Test d() passed" | awk -f "$KEEL_ROOT/Scripts/checks/failures.awk")" ] \
    || keel_die "a run that passed has failures."
keel_say "A failed run ends with its failures."
