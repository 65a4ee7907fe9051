#!/usr/bin/env python3
"""Answers a question about `swift package dump-package`, read from standard input.

    library-modules   the modules of the library products
    traits            the declared traits, without the set of defaults
"""

import json
import sys

manifest = json.load(sys.stdin)
if sys.argv[1] == "library-modules":
    libraries = [p for p in manifest["products"] if "library" in p["type"]]
    answer = {target for product in libraries for target in product["targets"]}
elif sys.argv[1] == "traits":
    answer = {trait["name"] for trait in manifest.get("traits", [])} - {"default"}
else:
    sys.exit(f"error: no such question: {sys.argv[1]}")
for line in sorted(answer):
    print(line)
