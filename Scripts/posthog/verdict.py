#!/usr/bin/env python3
"""Compares a report of PostHog's SDK test harness with the list of cases that do not pass or do not
apply, and prints the counts. Run it where the harness's CONTRACT.yaml is, with its sources on the
path.

    verdict.py REPORT KNOWN

Exits with 1 if a case failed or was left out that is not listed, if one passed that is, or if fewer
than 27 passed.
"""

import fnmatch
import json
import pathlib
import re
import sys

from posthog_test_harness.contract import ContractExecutor

LEAST = 27

known = []
for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
    if line and not line.startswith("#"):
        pattern, reason = re.split(r"\s{2,}", line, maxsplit=1)
        known.append((pattern, reason))


def reason(name):
    return next((why for pattern, why in known if fnmatch.fnmatchcase(name, pattern)), None)


passed, failed = set(), {}
for suite in json.loads(pathlib.Path(sys.argv[1]).read_text())["suites"]:
    for case in suite["tests"]:
        name = f"{suite['name']}/{case['name']}"
        if case["passed"]:
            passed.add(name)
        else:
            failed[name] = case["message"]

# What the contract has and the report has not: nothing is left out without a word.
left_out = {
    f"{suite}/{category}.{case['name']}"
    for suite, definition in ContractExecutor().get_test_suites().items()
    for category, cases in definition.get("categories", {}).items()
    for case in cases.get("tests", [])
} - passed - set(failed)

unexpected = sorted(name for name in left_out | set(failed) if reason(name) is None)
stale = sorted(name for name in passed if reason(name) is not None)
for name, message in sorted(failed.items()):
    print(f"FAILED  {name}: {message}")
    print(f"        {reason(name) or 'NOT KNOWN'}")
reasons = {}
for name in left_out:
    reasons.setdefault((name.partition("/")[0], reason(name) or "NOT KNOWN"), []).append(name)
for (suite, why), names in sorted(reasons.items()):
    print(f"not run {len(names)} of {suite}: {why}")
for name in unexpected:
    print(f"NOT KNOWN: {name}")
for name in stale:
    print(f"{name} passes: take it off the list.")
if len(passed) < LEAST:
    print(f"At least {LEAST} have to pass.")
print(f"{len(passed)} passed, {len(failed)} failed ({len(unexpected)} not known), {len(left_out)} not run")
sys.exit(1 if unexpected or stale or len(passed) < LEAST else 0)
