#!/usr/bin/env zsh
# complete.zsh FUNCTIONS LINE: prints what zsh offers at the end of a line, one word per line, with the completions
# of the folder FUNCTIONS. What they write to standard error is printed there.
#
# Completions run in the line editor alone, and that needs a terminal: a second zsh has one from zsh/zpty.

emulate -R zsh
zmodload zsh/zpty || exit 69
folder="$(mktemp -d)" || exit 1
trap 'rm -rf "$folder"' EXIT
export KEEL_FUNCTIONS="$1" KEEL_LINE="$2" KEEL_FOLDER="$folder" ZDOTDIR="$folder"
cat >"$folder/.zshrc" <<'END'
fpath=($KEEL_FUNCTIONS $fpath)
autoload -Uz compinit
compinit -u -d $KEEL_FOLDER/dump
offer() {
    compadd() {
        # With -O, -A and -D it fills arrays and offers nothing.
        if [[ -z ${${@[1,(i)(-|--)]}[(r)-*[OAD]]} ]]; then
            local -a offered
            builtin compadd -O offered "$@"
            (( ! $#offered )) || print -rl -- $offered >>$KEEL_FOLDER/offered
        fi
        builtin compadd "$@"
    }
    _main_complete 2>>$KEEL_FOLDER/errors
}
start() {
    BUFFER=$KEEL_LINE CURSOR=$#KEEL_LINE
    zle offer
    exit 0
}
zle -C offer complete-word offer
zle -N zle-line-init start
END
touch "$folder/offered" "$folder/errors"
# Without exec the terminal would be another process's, and the second zsh would wait for it.
zpty terminal exec zsh -d -i
while zpty -r terminal part; do :; done
zpty -d terminal
cat "$folder/errors" >&2
cat "$folder/offered"
