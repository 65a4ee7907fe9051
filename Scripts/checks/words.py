#!/usr/bin/env python3
"""Looks for words that no file may contain. File names come on standard input.

Always: the paths of a machine, and notes to oneself. A checkout may add words of its own, such as
a customer's name: one regular expression a line in the file that KEEL_FORBIDDEN_WORDS names, or in
`info/forbidden-words` of its git folder, which is never part of the repository.
"""

import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
own = os.environ.get("KEEL_FORBIDDEN_WORDS") or subprocess.run(
    ["git", "-C", root, "rev-parse", "--git-path", "info/forbidden-words"],
    capture_output=True,
    text=True,
).stdout.strip()

# Spelled in pieces, so that this file passes its own check.
patterns = [r"/(?:home|Us" r"ers)/[a-z]\w*/", r"\b(?:FIX" r"ME|XX" r"X|HA" r"CK)\b"]
if own and (root / own).is_file():
    lines = (root / own).read_text().splitlines()
    patterns += [line for line in lines if line.strip() and not line.startswith("#")]

pattern = re.compile("|".join(f"(?:{p})" for p in patterns))
found = 0
for name in sys.stdin.read().splitlines():
    if match := pattern.search(name):
        found += 1
        print(f"error: {name}: the name holds '{match.group()}'.", file=sys.stderr)
    try:
        text = (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        continue
    for number, line in enumerate(text.splitlines(), 1):
        if match := pattern.search(line):
            found += 1
            print(f"error: {name}:{number}: '{match.group()}' must not occur here.", file=sys.stderr)

print(f"    {len(patterns)} patterns, {found} found.")
sys.exit(1 if found else 0)
