#!/usr/bin/env python3
"""Prints "N passed, N failed" from the XML reports of `swift test --xunit-output`.

A run that crashed leaves no report and is not counted; the script that ran it says so.
"""

import pathlib
import sys
import xml.etree.ElementTree

passed = failed = skipped = 0
for report in pathlib.Path(sys.argv[1]).glob("*.xml"):
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is not None:
            skipped += 1
        elif case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        else:
            passed += 1

if passed + failed + skipped > 0:
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
