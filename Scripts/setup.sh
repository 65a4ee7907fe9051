#!/usr/bin/env bash
# Installs what Keel needs from the system, and nothing that is there already. Asks nothing.
#
#     Scripts/setup.sh               everything
#     Scripts/setup.sh build         what building needs
#     Scripts/setup.sh build test    what building and the tests need
#     Scripts/setup.sh bench         what the benchmarks need beside that: a counter of instructions
#                                    and of allocations, age, and spdlog with a compiler of C++
#
# Debian and Ubuntu: apt, as root or through sudo. macOS: brew. The Swift toolchain is not
# installed, only checked.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One line for each package: group, its name for apt, its name for brew. "-": nothing to install
# there, because the system or Xcode brings it.
packages="
bench   age               age
bench   g++               -
bench   libspdlog-dev     spdlog
bench   valgrind          -
build   libsqlite3-dev    -
build   zlib1g-dev        -
build   git               -
build   ca-certificates   -
build   curl              -
test    argon2            argon2
test    dbus              -
test    gnome-keyring     -
test    gpsd              -
test    libsecret-tools   -
test    nginx-light       nginx
test    python3           -
test    python3-venv      -
"

# names <column> [group…]: the packages of the groups, or all.
names() {
    local column="$1"
    shift
    printf '%s\n' "$packages" | awk -v column="$column" -v groups=" $* " '
        NF == 3 && $column != "-" && (groups ~ /^ *$/ || index(groups, " " $1 " ")) { print $column }
    '
}

for group in "$@"; do
    printf '%s\n' "$packages" | awk -v group="$group" '$1 == group { found = 1 } END { exit !found }' \
        || keel_die "there is no group '$group'." "The groups are: bench, build, test."
done

install_with_apt() {
    local wanted installed missing=() name as_root=()
    wanted="$(names 2 "$@")"
    # One call for all: `dpkg -s` in a loop takes most of a second.
    # shellcheck disable=SC2086
    installed="$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null || true)"
    for name in $wanted; do
        case "
$installed
" in
            *"
$name installed
"*) ;;
            *) missing+=("$name") ;;
        esac
    done
    [ "${#missing[@]}" -gt 0 ] || return 0

    keel_say "Installing ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 \
            || keel_die "packages are missing, and this is neither root nor is there sudo." \
                "Have somebody run: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    # `env`, because sudo drops the caller's variables.
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    "${as_root[@]}" apt-get update -qq >&2 \
        || keel_note "apt-get update failed; trying with the package lists that are here."
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 \
        || keel_die "apt could not install: ${missing[*]}" \
            "Its message stands above. Without a network, install them by hand and run this again."
}

install_with_brew() {
    local name missing=()
    xcode-select -p >/dev/null 2>&1 \
        || keel_die "Xcode's command line tools are missing." "Run: xcode-select --install"
    for name in $(names 3 "$@"); do
        brew list --versions "$name" >/dev/null 2>&1 || missing+=("$name")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    command -v brew >/dev/null 2>&1 \
        || keel_die "brew is missing, and these packages are: ${missing[*]}" "See https://brew.sh"
    keel_say "Installing ${missing[*]}"
    HOMEBREW_NO_AUTO_UPDATE=1 brew install "${missing[@]}" >&2
}

keel_require_swift
if [ "$(uname -s)" = "Darwin" ]; then
    install_with_brew "$@"
elif command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    install_with_apt "$@"
else
    keel_note "This system has neither apt nor brew. Keel needs what Debian calls:"
    keel_note "$(names 2 "$@" | tr '\n' ' ')"
fi
