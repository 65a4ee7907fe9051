#!/usr/bin/env bash
# Builds `keel` in release and installs it with its manual pages and the completions of bash, zsh and fish.
#
#     Scripts/install.sh                        into ~/.local
#     Scripts/install.sh --prefix DIR           elsewhere
#     Scripts/install.sh --debug                builds for debugging, which takes less time
#     Scripts/install.sh --without-postgresql   builds without libpq; keel then opens no PostgreSQL stores
#     Scripts/install.sh --uninstall            removes what was installed there

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prefix="${HOME:-}/.local"
configuration=release
options=()
uninstalls=
while [ "$#" -gt 0 ]; do
    case "$1" in
        --prefix)
            [ -n "${2:-}" ] || keel_die "--prefix has no folder." "For example: Scripts/install.sh --prefix ~/.local"
            prefix="$2"
            shift
            ;;
        --debug) configuration=debug ;;
        --without-postgresql) options+=(--disable-default-traits) ;;
        --uninstall) uninstalls=1 ;;
        -h | --help)
            sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
            exit 0
            ;;
        *) keel_die "there is no option $1." "Scripts/install.sh --help lists them." ;;
    esac
    shift
done
case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
list="$prefix/share/keel/installed"

# Removes the files of the list, and no other.
remove_installed() {
    local file
    while IFS= read -r file; do
        rm -f "$prefix/$file"
    done <"$list"
    rm -f "$list"
    rmdir "$prefix/share/keel" 2>/dev/null || true
}

if [ -n "$uninstalls" ]; then
    [ -f "$list" ] || keel_die "nothing of Keel is installed in $prefix." "Give the --prefix that you installed with."
    remove_installed
    keel_note "keel is removed from $prefix."
    exit 0
fi

keel_say "Building keel"
keel_build_product Tools keel -c "$configuration" ${options[@]+"${options[@]}"}

# Everything is made before anything is installed.
made="$(mktemp -d "${TMPDIR:-/tmp}/keel-install.XXXXXX")"
unfinished="$list.new"
trap 'rm -rf "$made"; rm -f "$list.new" "$unfinished"' EXIT
completions=share/bash-completion/completions/keel
functions=share/zsh/site-functions/_keel
fish=share/fish/vendor_completions.d/keel.fish
mkdir -p "$made/bin" "$made/share/man/man1"
for file in "$completions" "$functions" "$fish"; do mkdir -p "$made/$(dirname "$file")"; done
cp "$KEEL_BINARY" "$made/bin/keel"
"$KEEL_BINARY" --generate-completion-script bash >"$made/$completions"
"$KEEL_BINARY" --generate-completion-script zsh >"$made/$functions"
"$KEEL_BINARY" --generate-completion-script fish >"$made/$fish"
"$KEEL_BINARY" --experimental-dump-help \
    | "$KEEL_ROOT/Scripts/man-pages.py" "$made/share/man/man1" >/dev/null

mkdir -p "$(dirname "$list")" || keel_die "$prefix cannot be written to." "Give another --prefix, or become its owner."
(cd "$made" && find . -type f | sed 's,^\./,,' | sort) >"$list.new"
# For --uninstall after a failure.
[ -f "$list" ] || cat "$list.new" >"$list"
while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    unfinished="$prefix/$file.new"
    # A program that runs may not be written to; its name may be given to another.
    cp "$made/$file" "$prefix/$file.new"
    mv "$prefix/$file.new" "$prefix/$file"
done <"$list.new"
# Pages of removed commands must not stay; at the end, so that a full disk leaves the program that was there.
while IFS= read -r file; do
    grep -Fxq -e "$file" "$list.new" || rm -f "$prefix/$file"
done <"$list"
mv "$list.new" "$list"

keel_say "Installed in $prefix: $("$prefix/bin/keel" --version)"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) keel_note "Add it to your PATH:  export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
case "$prefix" in
    /usr | /usr/local) ;;
    *) keel_note "For zsh, before compinit in ~/.zshrc:  fpath=($prefix/share/zsh/site-functions \$fpath)" ;;
esac
