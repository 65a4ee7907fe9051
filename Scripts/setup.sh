#!/usr/bin/env bash
# Installs what Keel needs from the system, and nothing that is there already. Asks nothing.
#
#     Scripts/setup.sh               what building and the tests need
#     Scripts/setup.sh build         what building needs
#     Scripts/setup.sh test          what the tests need beside that
#     Scripts/setup.sh bench         what the benchmarks need beside that: a counter of instructions
#                                    and of allocations, age, and spdlog with a compiler of C++
#     Scripts/setup.sh go            what the tests of Google's Go client need beside that: 750 MB, on Debian alone
#
# Debian and Ubuntu: apt; Fedora: dnf; as root or through sudo. macOS: brew. Elsewhere, and without the
# rights, it says what to install. Services that come with a package are switched off again: tests start
# their own. The Swift toolchain is not installed, only checked.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# One line for each package: group, the program or header that shows that it is there, its name for apt, for
# dnf and for brew. "-": nothing to look for, or nothing to install because the system or Xcode brings it.
packages="
bench   age                    age               age               age
bench   g++                    g++               gcc-c++           -
bench   spdlog/spdlog.h        libspdlog-dev     spdlog-devel      spdlog
bench   valgrind               valgrind          valgrind          -
build   libpq-fe.h             libpq-dev         libpq-devel       libpq
build   sqlite3.h              libsqlite3-dev    sqlite-devel      -
build   zlib.h                 zlib1g-dev        zlib-devel        -
build   git                    git               git               -
build   -                      ca-certificates   ca-certificates   -
build   curl                   curl              curl              -
go      go                     golang-go         -                 -
go      -                      golang-google-cloud-dev -           -
go      openssl                openssl           -                 -
test    argon2                 argon2            argon2            argon2
test    dbus-run-session       dbus              dbus-daemon       -
test    fish                   fish              fish              fish
test    gnome-keyring-daemon   gnome-keyring     gnome-keyring     -
test    gpsd                   gpsd              gpsd              -
test    secret-tool            libsecret-tools   libsecret         -
test    nginx                  nginx-light       nginx-core        nginx
test    pgbouncer              pgbouncer         pgbouncer         pgbouncer
test    postgres               postgresql        postgresql-server postgresql@17
test    python3                python3           python3           -
test    -                      python3-venv      -                 -
test    tmux                   tmux              tmux              tmux
test    zsh                    zsh               zsh               -
"

# The services of these packages.
services="gpsd.socket gpsd.service nginx.service pgbouncer.service postgresql.service"

# names <column> <group…>: the contents of this column for the groups.
names() {
    local column="$1"
    shift
    printf '%s\n' "$packages" | awk -v column="$column" -v groups=" $* " '
        NF == 5 && $column != "-" && index(groups, " " $1 " ") { print $column }
    '
}

[ "$#" -gt 0 ] || set -- build test
for group in "$@"; do
    case "$group" in
        bench | build | go | test) ;;
        *) keel_die "there is no group '$group'." "The groups are: bench, build, go, test." ;;
    esac
done

# with_rights <command>: runs it as root; where that is impossible, says what somebody else has to run.
with_rights() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@" >&2
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@" >&2
    else
        keel_die "packages are missing, and this is neither root nor is there sudo." \
            "Have somebody with the rights run: $*"
    fi
}

# Leaves no service running or enabled that has come with these packages.
switch_off() {
    local service
    command -v systemctl >/dev/null 2>&1 || return 0
    for service in $services; do
        case " $* " in
            *" ${service%%.*}"*) with_rights systemctl disable --now --quiet "$service" 2>/dev/null || true ;;
        esac
    done
}

# Installs with apt those of the packages that are missing.
install_with_apt() {
    local installed missing=() name
    # One call for all: `dpkg -s` in a loop takes most of a second.
    installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' "$@" 2>/dev/null || true)"
    for name in "$@"; do
        [[ "$installed" == *" $name:installed "* ]] || missing+=("$name")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0

    keel_say "Installing ${missing[*]}"
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
        keel_die "packages are missing, and this is neither root nor is there sudo." \
            "Have somebody with the rights run:" \
            "apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi
    # `env`, because sudo drops the caller's variables.
    with_rights env DEBIAN_FRONTEND=noninteractive apt-get update -qq \
        || keel_note "apt-get update failed; trying with the package lists that are here."
    with_rights env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        || keel_die "apt could not install: ${missing[*]}" \
            "See its message above. Without a network, install them by hand and run this again."
    switch_off "${missing[@]}"
}

# Installs with dnf those of the packages that are missing.
install_with_dnf() {
    local missing=() name
    for name in "$@"; do
        rpm -q --whatprovides "$name" >/dev/null 2>&1 || missing+=("$name")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    keel_say "Installing ${missing[*]}"
    with_rights dnf install -y -q --setopt=install_weak_deps=False "${missing[@]}" \
        || keel_die "dnf could not install: ${missing[*]}" \
            "See its message above. Without a network, install them by hand and run this again."
    switch_off "${missing[@]}"
}

# Installs with brew those of the packages that are missing.
install_with_brew() {
    local name missing=()
    xcode-select -p >/dev/null 2>&1 \
        || keel_die "Xcode's command line tools are missing." "Run: xcode-select --install"
    [ "$#" -gt 0 ] || return 0
    command -v brew >/dev/null 2>&1 \
        || keel_die "brew is missing, which installs: $*" "Install it as https://brew.sh says, and run this again."
    for name in "$@"; do
        brew list --versions "$name" >/dev/null 2>&1 || missing+=("$name")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    keel_say "Installing ${missing[*]}"
    HOMEBREW_NO_AUTO_UPDATE=1 brew install "${missing[@]}" >&2 \
        || keel_die "brew could not install: ${missing[*]}" "See its message above."
}

# is_here <program or header>
is_here() {
    local folder
    case "$1" in
        *.h)
            for folder in /usr/include /usr/include/*-linux-* /usr/local/include /usr/include/postgresql; do
                [ ! -f "$folder/$1" ] || return 0
            done
            return 1
            ;;
        *) PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 ;;
    esac
}

# For a system whose packages this script does not know: says what is missing.
look_for_all() {
    local group probe missing=()
    for group in "$@"; do
        for probe in $(names 2 "$group"); do
            is_here "$probe" || missing+=("$probe")
        done
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    keel_die "this system has neither apt, dnf nor brew, and these programs and headers are missing: ${missing[*]}" \
        "Install the packages that have them with your system's own program, and run this again." \
        "Debian calls the packages: $(names 3 "$@" | tr '\n' ' ')"
}

# shellcheck disable=SC2046 # Names of packages have no spaces.
if [ "$(uname -s)" = "Darwin" ]; then
    install_with_brew $(names 5 "$@")
elif command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    install_with_apt $(names 3 "$@")
elif command -v rpm >/dev/null 2>&1 && command -v dnf >/dev/null 2>&1; then
    install_with_dnf $(names 4 "$@")
else
    look_for_all "$@"
fi
# Last, because what installs a toolchain is among the packages.
keel_require_swift
