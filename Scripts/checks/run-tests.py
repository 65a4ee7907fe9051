#!/usr/bin/env python3
"""Runs `swift test`, and does not let one test that hangs take the whole run with it.

    run-tests.py COUNTS -- swift test --skip-build …

It follows the stream of events that swift-testing writes beside its output. When nothing has
happened for KEEL_TEST_STALL seconds (600 without it), the run is ended and the tests under way are
named. Tests that failed, hung, crashed or did not come to their turn are run once more, as long as
no more than REPEATABLE of them failed: that tells what is broken from what depends on chance. A test
that passes only when run again is named, and fails the run as a broken one does.

Writes "passed failed skipped" into the file COUNTS. Exits with 0 only when every test has passed in
the first run, and that has ended with 0.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

# More than this many failures are no chance.
REPEATABLE = 5
STALL_SECONDS = float(os.environ.get("KEEL_TEST_STALL") or 600)


class Record:
    """What one run's stream of events tells."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.rest = b""
        self.names = {}
        self.started = set()
        self.ended = set()
        self.failed = set()
        self.skipped = set()

    def follow(self):
        """Reads what is new. Returns whether anything was."""
        if not self.path.exists():
            return False
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            piece = stream.read()
        self.offset += len(piece)
        lines = (self.rest + piece).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            if line.strip():
                self.take(json.loads(line))
        return bool(piece)

    def take(self, record):
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                self.names[payload["id"]] = payload.get("displayName") or payload["name"]
            return
        test = payload.get("testID")
        if test is None:
            return
        if payload["kind"] == "testStarted":
            self.started.add(test)
        elif payload["kind"] == "testEnded":
            self.ended.add(test)
        elif payload["kind"] == "testSkipped":
            self.skipped.add(test)
        elif payload["kind"] == "issueRecorded":
            issue = payload["issue"]
            if not issue["isKnown"] and issue.get("severity", "error") == "error":
                self.failed.add(test)

    def under_way(self):
        return sorted(test for test in self.started - self.ended if test in self.names)

    def passed(self):
        return (self.ended & self.names.keys()) - self.failed

    def not_passed(self):
        return sorted(self.names.keys() - self.passed() - self.skipped)


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def run(command, record):
    """Runs the command to its end, or until it stalls. Returns its exit code; None: stalled."""
    events = ["--event-stream-output-path", str(record.path), "--event-stream-version", "0"]
    process = subprocess.Popen(command + events, start_new_session=True)
    last = time.monotonic()
    try:
        while True:
            try:
                code = process.wait(timeout=1)
                record.follow()
                return code
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            if record.follow():
                last = now
            elif now - last > STALL_SECONDS:
                return None
    finally:
        # Also what the tests have started, and what a signal to this script leaves.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def describe(record, tests):
    for test in tests:
        print(f"    {record.names.get(test, '')}  ({test})", file=sys.stderr, flush=True)


def without_place(test):
    """The name of a test as --filter wants it: without the file and line that events add."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", test)


def main():
    separator = sys.argv.index("--")
    counts, command = pathlib.Path(sys.argv[1]), sys.argv[separator + 1 :]
    with tempfile.TemporaryDirectory(prefix="keel-events.") as folder:
        first = Record(pathlib.Path(folder) / "first.jsonl")
        last, code = first, run(command, first)
        if code is None:
            say(f"STALLED: nothing happened for {STALL_SECONDS:.0f} s. Under way were")
            describe(first, first.under_way())
        passed, skipped = first.passed(), set(first.skipped & first.names.keys())
        open_tests = first.not_passed()
        failed, chancy, first_code = set(open_tests), set(), code
        failures = [test for test in open_tests if test in first.failed]
        if code != 0 and open_tests and len(failures) <= REPEATABLE:
            say(f"Once more, {len(open_tests)} tests: failed, hung, crashed or not come to their turn")
            describe(first, open_tests[:20])
            second = Record(pathlib.Path(folder) / "second.jsonl")
            patterns = {f"^{re.escape(without_place(test))}(/|$)" for test in open_tests}
            filters = [part for name in sorted(patterns) for part in ("--filter", name)]
            last, code = second, run(command + filters, second)
            chancy = set(failures + first.under_way()) & second.passed()
            passed |= second.passed() & failed - chancy
            skipped |= second.skipped & failed
            failed -= passed | skipped | chancy
        if code == 0 and not last.under_way():
            # A test whose whole suite is skipped may have no event of its own. But a test that is
            # still under way has ended the program, and those after it have not come to their turn.
            skipped, failed = skipped | failed, set()
        if failed:
            say("Failed:")
            describe(first, sorted(failed)[:40])
        if chancy:
            say("PASSED ONLY WHEN RUN AGAIN, which fails the run:")
            describe(first, sorted(chancy))
            failed |= chancy
        is_whole = first_code == 0 and not failed
        if not failed and not is_whole:
            ending = "stalled" if first_code is None else f"ended with {first_code}"
            say(f"Failed: the run {ending}, though no test failed.")
        counts.write_text(f"{len(passed)} {len(failed)} {len(skipped)}\n")
    sys.exit(0 if is_whole else code or first_code or 1)


main()
