#!/usr/bin/env bash
# Runs the Autobahn test suite, unmodified, against Keel's WebSocket client: every case of its fuzzing server.
#
#     KEEL_AUTOBAHN=~/autobahn Scripts/check.sh --autobahn
#
# KEEL_AUTOBAHN names an environment of Python 2.7 or PyPy 2.7 with autobahntestsuite from PyPI in it, so that
# there is a bin/wstest. KEEL_AUTOBAHN_REPORT names a folder that keeps the report. With a Python 2.7:
#
#     python2.7 -m pip install 'virtualenv<20.22' && python2.7 -m virtualenv ~/autobahn
#     ~/autobahn/bin/pip install autobahntestsuite==0.8.2

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

suite="${KEEL_AUTOBAHN:-}"
if [ -z "$suite" ]; then
    keel_note "NOT RUN: the Autobahn test suite. Set KEEL_AUTOBAHN to an environment with bin/wstest."
    exit 0
fi
[ -x "$suite/bin/wstest" ] || keel_die "there is no program bin/wstest in $suite."

"$KEEL_ROOT/Scripts/setup.sh" build test
keel_build_product Tools keel-autobahn-testee

keel_work keel-autobahn

report="${KEEL_AUTOBAHN_REPORT:-$work/report}"
mkdir -p "$report"
url="ws://127.0.0.1:$(keel_free_port)"
cat >"$work/server.json" <<SPECIFICATION
{"url": "$url", "outdir": "$report", "cases": ["*"], "exclude-cases": [], "exclude-agent-cases": {}}
SPECIFICATION
"$suite/bin/wstest" --mode fuzzingserver --spec "$work/server.json" >"$work/log" 2>&1 &
server="$!"
keel_wait_for_port "${url##*:}" "$server"

keel_say "Autobahn test suite against Keel's WebSocket client"
"$KEEL_BINARY" "$url" Keel
python3 "$KEEL_ROOT/Scripts/outside/autobahn-verdict.py" "$report/index.json" Keel
