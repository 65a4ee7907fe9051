#!/usr/bin/env bash
# Scripts/install.sh installs a program that runs, with completions that bash reads and a page for each
# command, says what to add to PATH, leaves what is not its own, and removes all that it installed.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

folder="$(mktemp -d "${TMPDIR:-/tmp}/keel-install-test.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
prefix="$folder/with space"
mkdir -p "$prefix/bin"
echo mine >"$prefix/bin/other"

install() {
    "$KEEL_ROOT/Scripts/install.sh" --debug --prefix "$prefix" "$@" 2>&1
}

printed="$(install)" || keel_die "it does not install:" "$printed"
case "$printed" in
    *"export PATH=\"$prefix/bin:"*) ;;
    *) keel_die "it does not say what to add to PATH:" "$printed" ;;
esac
"$prefix/bin/keel" --version >/dev/null || keel_die "the installed program does not run."
bash -n "$prefix/share/bash-completion/completions/keel" || keel_die "bash cannot read its completions."
touch "$folder/notes.sqlite"
completed="$(cd "$folder" && bash -c '
    . "$1"
    COMP_WORDS=(keel documents get c/a --store no) COMP_CWORD=5
    COMP_LINE="${COMP_WORDS[*]}" COMP_POINT="${#COMP_LINE}"
    _keel keel no --store
    echo "${COMPREPLY[*]}"' - "$prefix/share/bash-completion/completions/keel")"
[ "$completed" = notes.sqlite ] || keel_die "bash completes no path behind --store, but:" "$completed"
grep -q 'compdef' "$prefix/share/zsh/site-functions/_keel" || keel_die "the completions of zsh are none."
grep -q 'complete' "$prefix/share/fish/vendor_completions.d/keel.fish" || keel_die "those of fish are none."
for page in keel keel-documents keel-documents-import keel-serve; do
    grep -q '^\.SH SYNOPSIS$' "$prefix/share/man/man1/$page.1" || keel_die "there is no page $page(1)."
done
grep -q 'max\\-body' "$prefix/share/man/man1/keel-serve.1" || keel_die "keel-serve(1) lacks an option."
grep -q 'profile' "$prefix/share/man/man1/keel.1" || keel_die "keel(1) lacks --profile."

# What an earlier version had and this one has not.
echo share/man/man1/keel-old.1 >>"$prefix/share/keel/installed"
touch "$prefix/share/man/man1/keel-old.1"
install >/dev/null || keel_die "it does not install over an earlier version."
[ ! -e "$prefix/share/man/man1/keel-old.1" ] || keel_die "a page of an earlier version has stayed."

install --uninstall >/dev/null || keel_die "it does not uninstall."
left="$(cd "$prefix" && find . -type f)"
[ "$left" = "./bin/other" ] || keel_die "after --uninstall there are:" "$left"
! install --uninstall >/dev/null || keel_die "it uninstalls what is not there."
! install --nonsense >/dev/null || keel_die "it takes an option that there is not."
