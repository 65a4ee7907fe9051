#!/usr/bin/env python3
"""Compares reports of pytest (JUnit XML) with the list of known failures, and prints the counts.

    verdict.py skipped REPORT               names of tests that an emulator, but not Keel, cannot run
    verdict.py judge LEAST KNOWN REPORT...  the verdict; a later report replaces what was skipped

Exits with 1 if a test failed that is not listed, if one passed that is, or if fewer than LEAST passed.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree

# Why tests skip themselves with an emulator although Keel has what they are about.
ONLY_EMULATORS = ("Query profile", "PartitionQuery", "Internal Issue")
# What the service has in another edition alone.
OTHER_EDITION = ("pipeline", "enterprise")


def outcomes(report):
    """The names of tests that passed, of those that failed, and why others were skipped."""
    passed, failed, skipped = set(), set(), {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = case.get("name")
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(name)
        elif (skip := case.find("skipped")) is not None:
            skipped[name] = skip.get("message")
        else:
            passed.add(name)
    return passed - failed, failed, skipped


def judge(least, known_file, reports):
    known = {}
    for line in pathlib.Path(known_file).read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = re.split(r"\s{2,}", line, maxsplit=1)
            known[name] = reason

    passed, failed, skipped = set(), set(), {}
    for report in reports:
        more_passed, more_failed, more_skipped = outcomes(report)
        passed |= more_passed
        failed |= more_failed
        skipped |= more_skipped
    skipped = {name: why for name, why in skipped.items() if name not in passed | failed}

    unexpected = failed - known.keys()
    stale = known.keys() - failed
    for name in sorted(failed):
        print(f"FAILED  {name}: {known.get(name, 'NOT KNOWN')}")
    for why in sorted(set(skipped.values())):
        print(f"skipped {list(skipped.values()).count(why)}: {why}")
    print(
        f"{len(passed)} passed, {len(failed)} failed ({len(unexpected)} of them not known), "
        f"{len(skipped)} skipped by the tests themselves"
    )
    for name in sorted(stale):
        print(f"{name} does not fail: take it off the list.")
    if len(passed) < least:
        print(f"At least {least} have to pass.")
    return 1 if unexpected or stale or len(passed) < least else 0


if sys.argv[1] == "skipped":
    for name, why in sorted(outcomes(sys.argv[2])[2].items()):
        if why.startswith(ONLY_EMULATORS) and not any(word in name for word in OTHER_EDITION):
            print(name)
else:
    sys.exit(judge(int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
