#!/usr/bin/env python3
"""Counts the results of the cache test suite, and fails for a required case that is not known to fail.

    cache-verdict.py TESTS RESULTS KNOWN KIND

TESTS is what the suite's `export.mjs` prints, RESULTS what its `cli.mjs` prints. KNOWN has one case a line:
its id, the kind of cache (`private`, `shared` or `both`), and the reason. A known case that passes fails
the run too: its line has to go. Cases for CDNs and for caches of several users do not count for a private one.
"""

import json
import pathlib
import sys

tests_file, results_file, known_file, cache = sys.argv[1:]
tests = {
    test["id"]: test
    for suite in json.loads(pathlib.Path(tests_file).read_text())
    for test in suite["tests"]
}
# The suite may print warnings before its results.
text = pathlib.Path(results_file).read_text()
results = json.loads(text[text.index("{") :])
known = {}
for line in pathlib.Path(known_file).read_text().splitlines():
    if line.strip() and not line.startswith("#"):
        name, kind, reason = line.split(maxsplit=2)
        if kind in (cache, "both"):
            known[name] = reason


def concerns(test):
    """Whether the case asks for what this kind of cache does."""
    is_shared = test.get("browser_skip", False) and "shared" in test["name"].lower()
    return cache == "shared" or not (is_shared or test.get("cdn_only", False))


def outcome(name):
    """True, False, or None where the case could not be tried: its setup or a case it depends on failed."""
    if name not in results or not concerns(tests[name]):
        return None
    others = [other for other in tests[name].get("depends_on", []) if other in tests]
    if any(outcome(other) is not True for other in others):
        return None
    result = results[name]
    if result is True:
        return True
    return None if isinstance(result, list) and result[0] == "Setup" else False


counts = {}
wrong = []
for name, test in tests.items():
    passed, kind = outcome(name), test.get("kind", "required")
    if passed is None:
        continue
    row = counts.setdefault(kind, [0, 0])
    row[0] += passed
    row[1] += 1
    if kind == "required" and not passed and name not in known:
        wrong.append(f"{name} fails: {results[name]}")
    if passed and name in known:
        wrong.append(f"{name} passes, and is listed as failing: {known[name]}")
for kind, (passed, tried) in sorted(counts.items()):
    print(f"    {kind}: {passed} of {tried}")
if "required" not in counts:
    wrong.append("no required case was tried")
for line in wrong:
    print(f"error: {line}", file=sys.stderr)
sys.exit(1 if wrong else 0)
