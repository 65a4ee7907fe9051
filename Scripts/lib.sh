# What every script shares. Source it, do not run it:
#
#     . "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
#
# Works with the bash 3.2 of macOS.

set -euo pipefail

KEEL_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# The oldest toolchain that Keel compiles with.
KEEL_SWIFT_MINIMUM="6.2"

# ---- Messages -----------------------------------------------------------------------------------

# Colours only where somebody looks.
if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then
    _keel_bold=$'\033[1m' _keel_red=$'\033[1;31m' _keel_plain=$'\033[0m'
else
    _keel_bold="" _keel_red="" _keel_plain=""
fi

# A headline, for the start of a step.
keel_say() {
    printf '%s==> %s%s\n' "$_keel_bold" "$*" "$_keel_plain" >&2
}

# A remark that stops nothing.
keel_note() {
    printf '    %s\n' "$*" >&2
}

# What went wrong and what to do, in as many lines as given.
keel_error() {
    printf '%serror: %s%s\n' "$_keel_red" "$1" "$_keel_plain" >&2
    shift
    for _keel_line in "$@"; do
        printf '       %s\n' "$_keel_line" >&2
    done
}

keel_die() {
    keel_error "$@"
    exit 1
}

# ---- Swift --------------------------------------------------------------------------------------

# keel_swift build|run|package [arguments]
#
# Calls SwiftPM with one scratch folder for all of Keel's packages, so that no dependency is
# compiled twice. KEEL_SCRATCH_PATH names another folder.
#
# SwiftPM keeps a build manifest in the scratch folder and may take the manifest of one package
# for that of another: it then prints "Build complete!" over source that does not compile. So the
# manifest is never kept. Scripts/tests/false-green.sh proves it. Decision record 0003.
#
# SwiftPM names a package's traits to the compiler in the order of a set, another one in each process,
# and compiles everything anew when the order has changed. With hashing that is the same each time it
# does not. Programs and tests run without it: build tests first, and run them with --skip-build.
#
# The index, in which SwiftPM looks for tests, is written without the modules of the system, which takes a sixth of
# the compiler's time.
#
# In debug, each module is compiled as a whole and without debug information: a new build takes four fifths of the
# time. With KEEL_INCREMENTAL=1 files are compiled by themselves and with debug information, which is sooner after a
# change; either way compiles anew what the other has compiled.
keel_swift() {
    local subcommand="$1" hashing=1 options=()
    shift
    case "$subcommand" in run) hashing= ;; esac
    case "$subcommand $*" in
        package* | *"-c release"*) ;;
        *)
            options=(
                -Xswiftc -index-ignore-system-modules
                -Xswiftc -Xfrontend -Xswiftc -index-ignore-clang-modules
                -Xswiftc -Xfrontend -Xswiftc -index-ignore-stdlib
            )
            [ -n "${KEEL_INCREMENTAL:-}" ] || options+=(
                -debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1
            )
            ;;
    esac
    env ${hashing:+SWIFT_DETERMINISTIC_HASHING=1} swift "$subcommand" \
        --scratch-path "$(keel_scratch)" --disable-build-manifest-caching \
        ${options[@]+"${options[@]}"} "$@"
}

keel_scratch() {
    printf '%s' "${KEEL_SCRATCH_PATH:-$KEEL_ROOT/.build/shared}"
}

# keel_scratch_of <package folder>
#
# The scratch folder of a package. SwiftPM removes from a folder what the package at hand does not depend on, and the
# next one fetches and compiles it anew. So the linter, which shares almost nothing with the others, has a folder of
# its own.
keel_scratch_of() {
    case "$1" in
        Lint) printf '%s-lint' "$(keel_scratch)" ;;
        *) keel_scratch ;;
    esac
}

# How the package itself is built for its tests: what is off unless asked for has tests too, and each
# target may import only what the manifest says it depends on.
KEEL_TEST_OPTIONS=(--enable-all-traits --explicit-target-dependency-import-check error)

# keel_test <package folder> [test options]
#
# Builds a package's tests, those of the package itself with all traits, and runs them: through the
# command in the array KEEL_TEST_RUNNER, where a caller has set one.
keel_test() {
    local package=(--package-path "$KEEL_ROOT/$1") scratch
    scratch="$(keel_scratch_of "$1")"
    [ "$1" != "." ] || package+=("${KEEL_TEST_OPTIONS[@]}")
    shift
    KEEL_SCRATCH_PATH="$scratch" keel_swift build --build-tests "${package[@]}" || return 1
    ${KEEL_TEST_RUNNER[@]+"${KEEL_TEST_RUNNER[@]}"} swift test --skip-build \
        --scratch-path "$scratch" --disable-build-manifest-caching "${package[@]}" "$@"
}

# keel_build_product <package folder> <product> [build options]
#
# Builds one executable product and leaves its path in KEEL_BINARY. What the compiler says goes to
# standard error, so that a script's output is its program's.
keel_build_product() {
    local package="$KEEL_ROOT/$1" product="$2" scratch
    scratch="$(keel_scratch_of "$1")"
    shift 2
    [ -f "$package/Package.swift" ] || keel_die "there is no package in $package."
    KEEL_SCRATCH_PATH="$scratch" \
        keel_swift build --package-path "$package" --product "$product" "$@" >&2
    KEEL_BINARY="$(KEEL_SCRATCH_PATH="$scratch" \
        keel_swift build --package-path "$package" "$@" --show-bin-path)/$product"
    [ -x "$KEEL_BINARY" ] || keel_die "the build made no $product in $(dirname "$KEEL_BINARY")."
}

# keel_progress <file>
#
# Shows how far a build has come and how long it will still take, in place of its lines, which go into the
# file. Fails when the build has failed, and then shows the file's end.
keel_progress() {
    local line done all is_long="" last="" shown=-30 left text
    local processors started="$SECONDS"
    processors="$(getconf _NPROCESSORS_ONLN)"
    : >"$1"
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$1"
        last="$line"
        case "$line" in
            Fetching*) text="fetching ${line##*/}" ;;
            "["[0-9]*/[0-9]*"] "*)
                all="${line#*/}"
                all="${all%%]*}"
                done="${line#[}"
                done="${done%%/*}"
                if [ -z "$is_long" ] && [ "$all" -ge 500 ]; then
                    is_long=1
                    keel_note "On $processors processors the first time takes about \
$(((9 + processors) / processors)) minutes, and later a few seconds."
                fi
                [ "$done" -gt 0 ] && [ "$done" -lt "$all" ] || continue
                left="$(((SECONDS - started) * (all - done) / done))"
                text="$((100 * done / all)) %, $done steps"
                if [ "$((SECONDS - started))" -gt 20 ]; then
                    if [ "$left" -gt 90 ]; then
                        text="$text, about $(((left + 30) / 60)) minutes left"
                    else
                        text="$text, about a minute left"
                    fi
                fi
                ;;
            *) continue ;;
        esac
        # A terminal shows progress at once, in one line; a log twice a minute.
        if [ -t 2 ]; then
            printf '\r\033[K    %s' "$text" >&2
        elif [ "$((SECONDS - shown))" -ge 30 ] && [ "$((SECONDS - started))" -gt 20 ]; then
            keel_note "$text"
            shown="$SECONDS"
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    case "$last" in
        *"omplete!"*) keel_note "compiled in $((SECONDS - started)) s" ;;
        *)
            grep -a 'error: ' "$1" >&2 || tail -n 20 "$1" >&2
            return 1
            ;;
    esac
}

# keel_work <name>
#
# Makes a folder of that name, with a suffix, and leaves its path in `work`. When the script ends, the folder goes, and
# the process whose id is in `server`, if there is one, is killed.
keel_work() {
    work="$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX")"
    server=""
    trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
}

# keel_address <process id> <file>
#
# Waits for a server to write its address, the first line of its output, into a file, and leaves it
# in KEEL_ADDRESS.
keel_address() {
    for _ in $(seq 100); do
        [ ! -s "$2" ] || break
        kill -0 "$1" 2>/dev/null || keel_die "the server did not start; see its message above."
        sleep 0.1
    done
    KEEL_ADDRESS="$(sed -n 1p "$2")"
    [ -n "$KEEL_ADDRESS" ] || keel_die "the server did not say where it listens."
}

# A port of the loopback interface that is free at this moment, for servers that take no port 0.
keel_free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# keel_wait_for_port <port> <process id>: waits until a server of the loopback interface takes connections.
keel_wait_for_port() {
    for _ in $(seq 100); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || return 0
        kill -0 "$2" 2>/dev/null || keel_die "the server did not start; see its message above."
        sleep 0.1
    done
    keel_die "no server takes connections on port $1."
}

# Stops with advice when the Swift toolchain is missing or too old.
keel_require_swift() {
    local advice=("Keel needs Swift $KEEL_SWIFT_MINIMUM or newer." "To install it with swiftly, run:")
    if [ "$(uname -s)" = "Darwin" ]; then
        advice+=(
            "    curl -O https://download.swift.org/swiftly/darwin/swiftly.pkg"
            "    installer -pkg swiftly.pkg -target CurrentUserHomeDirectory"
            "    ~/.swiftly/bin/swiftly init && . ~/.swiftly/env.sh"
            "Or install a current Xcode from the App Store."
        )
    else
        advice+=(
            "    curl -O https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz"
            "    tar zxf swiftly-$(uname -m).tar.gz && ./swiftly init"
            "    . ~/.local/share/swiftly/env.sh"
            "swiftly ends with the command that installs the toolchain's own system packages: run that, too."
            "Other ways: https://swift.org/install/linux"
        )
    fi
    command -v swift >/dev/null 2>&1 \
        || keel_die "the Swift toolchain is missing: there is no 'swift' on the PATH." "${advice[@]}"

    local printed version
    printed="$(swift --version 2>/dev/null || true)"
    version="$(printf '%s\n' "$printed" | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)"
    [ -n "$version" ] \
        || keel_die "'swift --version' does not name its version; it printed: ${printed:-nothing}" "${advice[@]}"
    keel_is_at_least "$version" "$KEEL_SWIFT_MINIMUM" \
        || keel_die "the Swift toolchain is too old: $version, at $(command -v swift)." "${advice[@]}"
}

# keel_is_at_least <version> <minimum>: compares major and minor.
keel_is_at_least() {
    local major="${1%%.*}" minor="0" minimum_major="${2%%.*}" minimum_minor="${2#*.}"
    case "$1" in
        *.*) minor="${1#*.}" minor="${minor%%.*}" ;;
    esac
    [ "$major" -gt "$minimum_major" ] \
        || { [ "$major" -eq "$minimum_major" ] && [ "$minor" -ge "${minimum_minor%%.*}" ]; }
}

# ---- Python -------------------------------------------------------------------------------------

# keel_make_python <folder> <file of requirements>
#
# Makes a virtual environment. Fails when the packages cannot be had.
keel_make_python() {
    python3 -m venv "$1" >&2 \
        || keel_die "python3 could not make a virtual environment." "Run: Scripts/setup.sh test"
    "$1/bin/python" -m pip install --quiet --requirement "$2" >&2
}

# Makes the virtual environment with the Python packages that the tests talk to, once for each state
# of Scripts/python-requirements.txt, and leaves its interpreter in KEEL_PYTHON, exported. A caller
# that has set KEEL_PYTHON keeps its own. Without a network it says what will not run, and goes on.
keel_use_python() {
    [ -z "${KEEL_PYTHON:-}" ] || return 0
    local requirements="$KEEL_ROOT/Scripts/python-requirements.txt" state folder
    state="$(cksum <"$requirements" | cut -d ' ' -f 1)"
    folder="$KEEL_ROOT/.build/python/$state"
    if [ ! -f "$folder/complete" ]; then
        keel_say "Making a virtual environment with the Python packages of the tests"
        rm -rf "$folder"
        if ! keel_make_python "$folder" "$requirements"; then
            keel_note "pip could not install what $requirements lists; see its message above."
            keel_note "NOT RUN: what talks to these packages. Set KEEL_PYTHON to a Python that has them."
            return 0
        fi
        touch "$folder/complete"
    fi
    export KEEL_PYTHON="$folder/bin/python"
}

# ---- Packages and files -------------------------------------------------------------------------

# The folders of the packages beside the root package, as far as they exist, one a line. Those that
# take Keel with the same traits follow each other: a change of traits compiles Keel anew.
keel_nested_packages() {
    local folder
    for folder in Tools Lint Benchmarks Examples/* Tests/Consumers/*Mode Tests/Consumers/*Default \
        Tests/Consumers/*Only; do
        if [ -f "$KEEL_ROOT/$folder/Package.swift" ]; then
            printf '%s\n' "$folder"
        fi
    done
}

# keel_files [pattern…]: the repository's files, also new ones, without what git ignores.
keel_files() {
    git -C "$KEEL_ROOT" ls-files --cached --others --exclude-standard -- "$@" | sort -u \
        | while IFS= read -r file; do
            if [ -f "$KEEL_ROOT/$file" ]; then printf '%s\n' "$file"; fi
        done
}
