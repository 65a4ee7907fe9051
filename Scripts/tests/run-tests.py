#!/usr/bin/env python3
"""Proves what Scripts/checks/run-tests.py promises, on a stand-in for `swift test`."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).parent.parent / "checks" / "run-tests.py"


def stand_in(arguments):
    """Runs the tests named by its first argument; remembers in its second how often it ran."""
    wanted, memory = arguments[0].split(","), pathlib.Path(arguments[1])
    turn = len(memory.read_text()) if memory.exists() else 0
    with memory.open("a") as turns:
        turns.write("1")
    filters = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--filter"]
    if any("\\(" in one for one in filters):
        wanted = [name for name in wanted if any(f"{name}\\(" in one for one in filters)]
    elif filters:
        wanted = [name for name in wanted if name in filters]
    skips = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--skip"]
    wanted = [name for name in wanted if name not in skips]
    events = open(arguments[arguments.index("--event-stream-output-path") + 1], "w")

    def write(record, **payload):
        print(json.dumps({"version": 0, "kind": record, "payload": payload}), file=events, flush=True)

    ids = {name: f"Module.Suite/{name}()/File.swift:1:1" for name in wanted if name != "outside"}
    for name, test in ids.items():
        write("test", kind="function", name=f"{name}()", id=test)
    # Something that is no test fails, such as what a suite sets up.
    failed = "outside" in wanted
    for name, test in ids.items():
        if name == "silent":
            # As in a suite that is skipped whole.
            continue
        if name == "off":
            write("event", kind="testSkipped", testID=test)
            continue
        write("event", kind="testStarted", testID=test)
        if name == "leaving":
            sys.exit(0)
        if name == "hanging" and turn == 0:
            subprocess.run(["sleep", "600"])
        if name == "broken" or (name == "chancy" and turn == 0):
            failed = True
            write("event", kind="issueRecorded", testID=test, issue={"isKnown": False})
        write("event", kind="testEnded", testID=test)
    sys.exit(1 if failed else 0)


class RunnerTests(unittest.TestCase):
    def run_tests(self, tests, *beside):
        """Returns the exit code, the counts, what was said, and how often the command ran."""
        with tempfile.TemporaryDirectory() as folder:
            counts, memory = pathlib.Path(folder) / "counts", pathlib.Path(folder) / "memory"
            done = subprocess.run(
                [RUNNER, counts, *(part for name in beside for part in ("--beside", name)), "--"]
                + [sys.executable, __file__, "stand-in", tests, memory],
                # Only a test that hangs needs a short limit; other stand-ins may start slowly.
                env={**os.environ, "KEEL_TEST_STALL": "15" if "hanging" in tests else "600"},
                stderr=subprocess.PIPE,
                text=True,
            )
            turns = len(memory.read_text())
            return done.returncode, counts.read_text().split(), done.stderr, turns

    def test_what_passes_runs_once(self):
        code, counts, said, turns = self.run_tests("steady,off")
        self.assertEqual((code, counts, turns), (0, ["1", "0", "1"], 1), said)

    def test_what_fails_twice_fails(self):
        code, counts, said, turns = self.run_tests("steady,broken")
        self.assertEqual((code, counts, turns), (1, ["1", "1", "0"], 2), said)
        self.assertIn("broken()", said)

    def test_a_suite_that_is_skipped_whole_fails_nothing(self):
        code, counts, said, turns = self.run_tests("steady,silent")
        self.assertEqual((code, counts, turns), (0, ["1", "0", "1"], 1), said)
        code, counts, said, turns = self.run_tests("steady,chancy,silent")
        self.assertEqual((code, counts, turns), (1, ["1", "1", "1"], 2), said)

    def test_what_passes_only_the_second_time_fails_and_is_named(self):
        code, counts, said, turns = self.run_tests("steady,chancy,off")
        self.assertEqual((code, counts, turns), (1, ["1", "1", "1"], 2), said)
        self.assertIn("PASSED ONLY WHEN RUN AGAIN", said)
        self.assertIn("chancy()", said)

    def test_what_hangs_is_ended_named_and_run_again_with_what_follows(self):
        code, counts, said, turns = self.run_tests("steady,hanging,chancy")
        self.assertEqual((code, counts, turns), (1, ["2", "1", "0"], 2), said)
        self.assertIn("STALLED", said)
        self.assertIn("PASSED ONLY WHEN RUN AGAIN", said)
        self.assertIn("hanging()", said.partition("PASSED ONLY")[2])
        self.assertNotIn("chancy()", said.partition("PASSED ONLY")[2])

    def test_a_broken_test_fails_also_beside_one_that_hangs_and_both_are_named(self):
        code, counts, said, _ = self.run_tests("broken,hanging")
        self.assertEqual((code, counts), (1, ["0", "2", "0"]), said)
        self.assertIn("broken()", said.partition("==> Failed:")[2])
        self.assertIn("hanging()", said.partition("PASSED ONLY")[2])

    def test_a_test_that_ends_the_program_fails_with_those_after_it(self):
        code, counts, said, _ = self.run_tests("steady,leaving,late")
        self.assertEqual((code, counts), (1, ["1", "2", "0"]), said)
        self.assertIn("leaving()", said)

    def test_processes_side_by_side_count_as_one_run(self):
        code, counts, said, turns = self.run_tests("steady,off,other", "other")
        self.assertEqual((code, counts, turns), (0, ["2", "0", "1"], 2), said)

    def test_several_patterns_make_a_process_each(self):
        code, counts, said, turns = self.run_tests("steady,off,other,third", "other", "third")
        self.assertEqual((code, counts, turns), (0, ["3", "0", "1"], 3), said)

    def test_what_fails_in_one_of_two_processes_runs_once_more_and_fails(self):
        code, counts, said, turns = self.run_tests("steady,broken,off", "broken")
        self.assertEqual((code, counts, turns), (1, ["1", "1", "1"], 3), said)
        self.assertIn("broken()", said.partition("==> Failed:")[2])
        code, counts, said, _ = self.run_tests("steady,leaving", "leaving")
        self.assertEqual((code, counts), (1, ["1", "1", "0"]), said)

    def test_a_run_that_fails_outside_of_its_tests_fails(self):
        code, counts, said, _ = self.run_tests("steady,outside,silent")
        self.assertEqual((code, counts), (1, ["1", "0", "1"]), said)
        self.assertIn("though no test failed", said)


if __name__ == "__main__":
    if sys.argv[1:2] == ["stand-in"]:
        stand_in(sys.argv[2:])
    unittest.main()
