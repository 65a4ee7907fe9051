#!/usr/bin/env bash
# Compiles Keel for Apple's systems, and runs its tests on this Mac.
#
#     Scripts/check-apple.sh                    every system, then the tests
#     Scripts/check-apple.sh macOS iOS          some systems; macOS alone has tests
#
# Needs macOS 15 or newer with Xcode 26 or newer. NOT YET RUN by anybody: Keel is developed on Linux,
# and Documentation/Platforms.md says of each type what has been seen of it.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "$(uname -s)" = "Darwin" ] \
    || keel_die "this needs a Mac: Apple's SDKs exist nowhere else." \
        "On Linux, Scripts/test.sh runs the adapters for Apple's systems on stand-ins."
command -v xcodebuild >/dev/null 2>&1 \
    || keel_die "Xcode is missing: there is no 'xcodebuild' on the PATH." \
        "Install it from the App Store, then: sudo xcode-select -s /Applications/Xcode.app"

"$KEEL_ROOT/Scripts/setup.sh" build test

systems=("$@")
[ "${#systems[@]}" -gt 0 ] || systems=(macOS iOS tvOS watchOS visionOS)
failed=()

# compile <system>: all products, without running anything.
compile() {
    local destination="generic/platform=$1"
    [ "$1" != "macOS" ] || destination="platform=macOS"
    (cd "$KEEL_ROOT" && xcodebuild build -quiet -scheme keel-Package \
        -destination "$destination" -derivedDataPath ".build/apple/$1" -skipMacroValidation)
}

for system in "${systems[@]}"; do
    case "$system" in
        macOS | iOS | tvOS | watchOS | visionOS) ;;
        *) keel_die "there is no system '$system'." "The systems are: macOS, iOS, tvOS, watchOS, visionOS." ;;
    esac
    keel_say "Compiling for $system"
    compile "$system" || failed+=("build for $system")
done

# Here the checks use the real Keychain, CoreLocation and unified log; Linux runs them on
# stand-ins. The Keychain asks nothing of a signed-in user for items that the tests made themselves.
case " ${systems[*]} " in
    *" macOS "*)
        keel_say "Tests on this Mac"
        "$KEEL_ROOT/Scripts/test.sh" || failed+=("tests on macOS")
        ;;
esac

if [ "${#failed[@]}" -gt 0 ]; then
    keel_die "not everything held:" "${failed[@]}"
fi
keel_say "Everything held: ${systems[*]}. Say so in Documentation/Platforms.md."
