#!/usr/bin/env bash
# Scripts/install.sh installs a program that runs, with completions that work in bash, zsh and fish and a page
# for each command, says what to add to PATH, leaves what is not its own, and removes all that it installed.

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

# offered_by <shell> <line>: what the shell offers at the end of a line, one word per line.
# shellcheck disable=SC2016 # The shells that are started expand these.
offered_by() {
    case "$1" in
        bash)
            bash -c '
                . "$1"
                read -ra COMP_WORDS <<<"$2"
                case "$2" in *" ") COMP_WORDS+=("") ;; esac
                COMP_CWORD="$((${#COMP_WORDS[@]} - 1))" COMP_LINE="$2" COMP_POINT="${#2}"
                _keel keel "${COMP_WORDS[$COMP_CWORD]}" "${COMP_WORDS[$COMP_CWORD - 1]}"
                printf "%s\n" "${COMPREPLY[@]}"' - "$prefix/share/bash-completion/completions/keel" "$2"
            ;;
        zsh) "$KEEL_ROOT/Scripts/checks/complete.zsh" "$prefix/share/zsh/site-functions" "$2" ;;
        # Each line is a word, a tab and its meaning.
        fish)
            fish --no-config -c 'set fish_complete_path $argv[1]; complete -C $argv[2]' \
                "$prefix/share/fish/vendor_completions.d" "$2" | cut -f 1
            ;;
    esac
}

# completes <shell> <line> <word>: fails unless the shell offers the word at the end of the line, and says nothing.
completes() {
    local offered
    offered="$(cd "$folder" && PATH="$prefix/bin:$PATH" offered_by "$1" "$2" 2>"$folder/said")" || true
    [ ! -s "$folder/said" ] || keel_die "$1 says as it completes '$2':" "$(cat "$folder/said")"
    printf '%s\n' "$offered" | grep -Fxq -e "$3" || keel_die "$1 completes '$2' not with '$3', but with:" "$offered"
}

touch "$folder/notes.sqlite"
for shell in bash zsh fish; do
    if ! command -v "$shell" >/dev/null 2>&1; then
        keel_note "not run: the completions of $shell, which is not here (Scripts/setup.sh test installs it)"
        continue
    fi
    completes "$shell" "keel se" serve
    completes "$shell" "keel --profile staging documents ge" get
    completes "$shell" "keel serve --dura" --durability
    completes "$shell" "keel serve --durability " power
    completes "$shell" "keel keyset create --algorithm AES256_GCM_H" AES256_GCM_HKDF_1MB
    completes "$shell" "keel documents get c/a --storage no" notes.sqlite
done

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

# A disk that is full.
mkdir "$folder/full"
cat >"$folder/full/cp" <<'END'
#!/bin/sh
for target; do :; done
case "$target" in *.new) echo part >"$target" && exit 1 ;; esac
exec /bin/cp "$@"
END
chmod +x "$folder/full/cp"
if (PATH="$folder/full:$PATH" && install >/dev/null); then keel_die "it installs on a full disk."; fi
"$prefix/bin/keel" --version >/dev/null || keel_die "a full disk leaves no program."
left="$(find "$prefix" -name '*.new')"
[ -z "$left" ] || keel_die "a full disk keeps parts of files:" "$left"
install >/dev/null || keel_die "it does not install after a failure."

install --uninstall >/dev/null || keel_die "it does not uninstall."
left="$(cd "$prefix" && find . -type f)"
[ "$left" = "./bin/other" ] || keel_die "after --uninstall there are:" "$left"
! install --uninstall >/dev/null || keel_die "it uninstalls what is not there."
! install --nonsense >/dev/null || keel_die "it takes an option that there is not."
