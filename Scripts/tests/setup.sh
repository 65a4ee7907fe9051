#!/usr/bin/env bash
# Proves what Scripts/setup.sh promises, on a PATH of stand-ins for the programs that install packages.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

folder="$(mktemp -d "${TMPDIR:-/tmp}/keel-setup.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
bash="$(command -v bash)"

# machine <system> [program…]: an empty machine with these stand-ins, a Swift toolchain, and nothing installed.
machine() {
    local program
    rm -rf "$folder/bin" "$folder/calls"
    mkdir "$folder/bin"
    : >"$folder/calls"
    for program in awk bash cat dirname env grep head sed tr; do
        ln -s "$(command -v "$program")" "$folder/bin/$program"
    done
    stand_in uname "case \"\$*\" in -m) echo x86_64 ;; *) echo $1 ;; esac"
    stand_in swift 'echo "Swift version 6.3 (swift-6.3-RELEASE)"'
    stand_in id 'echo 0'
    shift
    for program in "$@"; do
        case "$program" in
            dpkg-query) stand_in "$program" 'for name in $INSTALLED; do printf "%s:installed " "$name"; done' ;;
            rpm | xcode-select) stand_in "$program" 'case " $INSTALLED " in *" ${*: -1} "*) ;; *) exit 1 ;; esac' ;;
            brew)
                stand_in "$program" '[ "$1" = install ] || case " $INSTALLED " in *" ${*: -1} "*) exit 0 ;; *) exit 1 ;; esac
                    echo "brew $*" >>"$CALLS"'
                ;;
            sudo) stand_in "$program" 'echo "sudo" >>"$CALLS"; exec "$@"' ;;
            *) stand_in "$program" "echo \"$program \$*\" >>\"\$CALLS\"" ;;
        esac
    done
}

# stand_in <name> <script>
stand_in() {
    printf '#!%s\n%s\n' "$bash" "$2" >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

# setup <exit code> <installed packages> [arguments]: what it prints, after checking how it ends.
setup() {
    local code=0 wanted="$1" installed="$2"
    shift 2
    printed="$(PATH="$folder/bin" INSTALLED="$installed" CALLS="$folder/calls" \
        "$bash" "$KEEL_ROOT/Scripts/setup.sh" "$@" 2>&1)" || code="$?"
    calls="$(cat "$folder/calls")"
    [ "$code" -eq "$wanted" ] || keel_die "setup.sh $* ended with $code, not with $wanted:" "$printed" "$calls"
}

# has <text> <part>, lacks <text> <part>
has() { [[ "$1" == *"$2"* ]] || keel_die "this lacks “$2”:" "$1"; }
lacks() { [[ "$1" != *"$2"* ]] || keel_die "this has “$2”:" "$1"; }

building="libpq-dev libsqlite3-dev zlib1g-dev git ca-certificates curl"
testing="argon2 dbus fish gnome-keyring gpsd libsecret-tools nginx-light pgbouncer postgresql python3 python3-venv"
testing="$testing tmux zsh"

keel_note "Debian: installs what is missing, nothing of the benchmarks, and leaves no service on"
machine Linux dpkg-query apt-get systemctl
setup 0 "git curl python3"
has "$calls" "apt-get update"
has "$calls" "--no-install-recommends libpq-dev libsqlite3-dev zlib1g-dev ca-certificates argon2"
lacks "$calls" " git"
lacks "$calls" "valgrind"
has "$calls" "systemctl disable --now --quiet nginx.service"
has "$calls" "systemctl disable --now --quiet postgresql.service"
has "$calls" "systemctl disable --now --quiet pgbouncer.service"
has "$calls" "systemctl disable --now --quiet gpsd.socket"
machine Linux dpkg-query apt-get systemctl
setup 0 "$building" build
[ -z "$calls" ] || keel_die "it calls something although all is there:" "$calls"
machine Linux dpkg-query apt-get systemctl
setup 0 "$building $testing" bench
has "$calls" "valgrind"
lacks "$calls" "systemctl"

keel_note "without rights: says what to run, and with sudo runs it"
machine Linux dpkg-query apt-get
stand_in id 'echo 1000'
setup 1 "$building" build test
has "$printed" "apt-get install -y --no-install-recommends argon2"
[ -z "$calls" ] || keel_die "it calls something without the rights:" "$calls"
machine Linux dpkg-query apt-get sudo
stand_in id 'echo 1000'
setup 0 "$building" test
has "$calls" "sudo
apt-get install"

keel_note "Fedora, macOS, and systems that it does not know"
machine Linux rpm dnf systemctl
setup 0 "git curl ca-certificates"
has "$calls" "dnf install -y -q --setopt=install_weak_deps=False libpq-devel sqlite-devel zlib-devel argon2"
machine Darwin xcode-select brew
stand_in xcode-select 'exit 0'
setup 0 "argon2"
has "$calls" "brew install libpq fish nginx pgbouncer postgresql@17"
machine Darwin
stand_in xcode-select 'exit 0'
setup 1 ""
has "$printed" "https://brew.sh"
machine Darwin
setup 1 ""
has "$printed" "xcode-select --install"
machine Linux
setup 1 "" build
has "$printed" "git curl"
has "$printed" "Debian calls the packages: libpq-dev libsqlite3-dev"

keel_note "no toolchain, one that is too old, a group that is none"
machine Linux dpkg-query apt-get
rm "$folder/bin/swift"
setup 1 "" build
has "$calls" "apt-get install"
has "$printed" "swiftly-x86_64.tar.gz"
machine Linux dpkg-query apt-get
stand_in swift 'echo "Swift version 5.10 (swift-5.10-RELEASE)"'
setup 1 "$building" build
has "$printed" "too old: 5.10"
setup 1 "" builds
has "$printed" "The groups are: bench, build, go, test."
keel_say "Scripts/setup.sh installs what is missing, or says what to do."
