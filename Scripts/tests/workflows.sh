#!/usr/bin/env bash
# The jobs of the hosting service test every package, and each action has the hash of a commit.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

workflows="$KEEL_ROOT/.github/workflows"
listed=" $(sed -n 's/.*packages: "\(.*\)".*/\1/p' "$workflows/ci.yml" | tr '\n' ' ') "
for folder in scripts . Tests/Apple Tests/SwiftUI $(keel_nested_packages); do
    [[ "$listed" == *" $folder "* ]] \
        || keel_die "no job of ci.yml tests $folder." "Add it to the packages of a part of the job 'linux'."
done
for folder in $listed; do
    case "$folder" in scripts) continue ;; esac
    [ -f "$KEEL_ROOT/$folder/Package.swift" ] || keel_die "ci.yml tests $folder, which is no package."
done
loose="$(grep -n 'uses:' "$workflows"/*.yml | grep -vE '@[0-9a-f]{40} # v[0-9.]+$' || true)"
[ -z "$loose" ] || keel_die "these actions do not have the hash of a commit:" "$loose"
keel_say "The workflows test every package."
