#!/usr/bin/env python3
"""Compares a report of pytest (JUnit XML) with the list of known failures, and prints the counts.

    verdict.py REPORT KNOWN

Exits with 1 if a test failed that is not listed, if one passed that is, or if fewer than 59 passed.
"""

import fnmatch
import pathlib
import re
import sys
import xml.etree.ElementTree

LEAST = 59

known = []
for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
    if line and not line.startswith("#"):
        pattern, reason = re.split(r"\s{2,}", line, maxsplit=1)
        known.append((pattern, reason))

passed, failed, skipped = set(), set(), {}
for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    name = case.get("name")
    if case.find("failure") is not None or case.find("error") is not None:
        failed.add(name)
    elif (skip := case.find("skipped")) is not None:
        skipped.setdefault(skip.get("message"), set()).add(name)
    else:
        passed.add(name)
passed -= failed


def reason(name):
    return next((why for pattern, why in known if fnmatch.fnmatchcase(name, pattern)), None)


unexpected = sorted(name for name in failed if reason(name) is None)
stale = sorted(
    pattern for pattern, _ in known if not any(fnmatch.fnmatchcase(name, pattern) for name in failed)
)
for name in sorted(failed):
    print(f"FAILED  {name}: {reason(name) or 'NOT KNOWN'}")
for why, names in sorted(skipped.items()):
    print(f"skipped {len(names)}: {why}")
print(
    f"{len(passed)} passed, {len(failed)} failed ({len(unexpected)} of them not known), "
    f"{sum(map(len, skipped.values()))} skipped by the tests themselves"
)
for pattern in stale:
    print(f"Nothing fails that {pattern} names: take it off the list.")
if len(passed) < LEAST:
    print(f"At least {LEAST} have to pass.")
sys.exit(1 if unexpected or stale or len(passed) < LEAST else 0)
