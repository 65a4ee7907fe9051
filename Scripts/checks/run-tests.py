#!/usr/bin/env python3
"""Runs `swift test`, and does not let one test that hangs take the whole run with it.

    run-tests.py COUNTS [--beside PATTERN]… -- swift test --skip-build …

Each PATTERN makes a process of its own for the tests that match it, as `swift test --filter` compares
them; the tests that match none run in one more process, which begins first. As many processes as there are
processors, and two more, run side by side, those of the patterns in their order and at a lower priority: tests with
time limits on real sockets belong in the process without a pattern.

The tests find a new folder for temporary files in TMPDIR, which is removed at the end with what they left in it.

It follows the stream of events that swift-testing writes beside its output. When nothing has
happened in a process for KEEL_TEST_STALL seconds (600 without it), that process is ended and its tests
under way are named. Tests that failed, hung, crashed or did not come to their turn are run once more, as long as
no more than REPEATABLE of them failed: that tells what is broken from what depends on chance. A test
that passes only when run again is named, and fails the run as a broken one does.

Writes "passed failed skipped" into the file COUNTS. Exits with 0 only when every test has passed in
the first run, and that has ended with 0.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
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
                say(f"STALLED: nothing happened for {STALL_SECONDS:.0f} s. Under way were")
                describe(record, record.under_way())
                return None
    finally:
        # The tests' own processes too, and all of them after a signal to this script.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def timed(command, record):
    """Runs the command, and tells how long it took: the processes should take about the same time."""
    started = time.monotonic()
    code = run(command, record)
    tests = " ".join(command[command.index("--filter") :][1:2]) if "--filter" in command else "the rest"
    say(f"{time.monotonic() - started:.0f} s for {tests}")
    return code


class Runs:
    """Processes that run side by side, seen as one run."""

    def __init__(self, commands, folder, name):
        self.records = [Record(folder / f"{name}-{number}.jsonl") for number in range(len(commands))]
        with concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + 2) as threads:
            codes = list(threads.map(timed, commands, self.records))
        # The exit code of the first process that failed; None if one stalled.
        self.code = None if None in codes else next((code for code in codes if code != 0), 0)

        def all_of(part):
            return set().union(*(part(record) for record in self.records))

        self.names = {test: name for record in self.records for test, name in record.names.items()}
        self.failed = all_of(lambda record: record.failed)
        self.skipped = all_of(lambda record: record.skipped)
        self.under_way = sorted(all_of(Record.under_way))
        self.passed = all_of(Record.passed)
        self.not_passed = sorted(self.names.keys() - self.passed - self.skipped)


def describe(record, tests):
    for test in tests:
        print(f"    {record.names.get(test, '')}  ({test})", file=sys.stderr, flush=True)


def without_place(test):
    """The name of a test as --filter wants it: without the file and line that events add."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", test)


def side_by_side(command, patterns):
    """The commands for the tests of each pattern, and for those of none."""
    if not patterns:
        return [command]
    # SwiftPM lets one process at a time into a scratch folder. These build nothing.
    command = command + ["--ignore-lock"]
    rest = [part for pattern in patterns for part in ("--skip", pattern)]
    return [command + rest] + [["nice", *command, "--filter", pattern] for pattern in patterns]


def main():
    separator = sys.argv.index("--")
    counts, command = pathlib.Path(sys.argv[1]), sys.argv[separator + 1 :]
    patterns = sys.argv[3:separator:2]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="keel."))
    try:
        # Short, as paths of sockets have to be, and open to the users that servers of tests run as.
        temporary = folder / "t"
        folder.chmod(0o711)
        temporary.mkdir()
        temporary.chmod(0o1777)
        os.environ["TMPDIR"] = str(temporary)
        first = Runs(side_by_side(command, patterns), folder, "first")
        last = first
        passed, skipped = first.passed, set(first.skipped & first.names.keys())
        open_tests = first.not_passed
        failed, chancy = set(open_tests), set()
        failures = [test for test in open_tests if test in first.failed]
        if first.code != 0 and open_tests and len(failures) <= REPEATABLE:
            say(f"Once more, {len(open_tests)} tests: failed, hung, crashed or not come to their turn")
            describe(first, open_tests[:20])
            again = {f"^{re.escape(without_place(test))}(/|$)" for test in open_tests}
            filters = [part for name in sorted(again) for part in ("--filter", name)]
            last = Runs([command + filters], folder, "second")
            chancy = set(failures + first.under_way) & last.passed
            passed |= last.passed & failed - chancy
            skipped |= last.skipped & failed
            failed -= passed | skipped | chancy
        if last.code == 0 and not last.under_way:
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
        is_whole = first.code == 0 and not failed
        if not failed and not is_whole:
            ending = "stalled" if first.code is None else f"ended with {first.code}"
            say(f"Failed: the run {ending}, though no test failed.")
        counts.write_text(f"{len(passed)} {len(failed)} {len(skipped)}\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if is_whole else last.code or first.code or 1)


main()
