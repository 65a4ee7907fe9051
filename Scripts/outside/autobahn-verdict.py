#!/usr/bin/env python3
"""Counts the cases of an Autobahn report, and fails unless each was passed.

    autobahn-verdict.py INDEX AGENT

INDEX is the report's index.json. "NON-STRICT" is a pass that a stricter reading of RFC 6455 would not have,
"INFORMATIONAL" judges nothing, and "UNIMPLEMENTED" is a case that the suite could not try; all three are named.
"""

import collections
import json
import pathlib
import sys

cases = json.loads(pathlib.Path(sys.argv[1]).read_text())[sys.argv[2]]
counts = collections.Counter(case["behavior"] for case in cases.values())
for behavior, number in sorted(counts.items()):
    print(f"    {behavior}: {number}")
wrong = 0
for name, case in sorted(cases.items(), key=lambda item: [int(part) for part in item[0].split(".")]):
    for part in ("behavior", "behaviorClose"):
        if case[part] in ("NON-STRICT", "UNIMPLEMENTED"):
            print(f"    {name}: {part} {case[part]}")
        elif case[part] not in ("OK", "INFORMATIONAL"):
            wrong += 1
            print(f"error: {name}: {part} {case[part]}", file=sys.stderr)
if not cases:
    wrong += 1
    print("error: the report has no case.", file=sys.stderr)
sys.exit(1 if wrong else 0)
