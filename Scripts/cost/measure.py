#!/usr/bin/env python3
"""Measures what SwiftPM has just built of a package of Scripts/cost/packages.py.

    measure.py <package> <scratch folder> <folder of programs> debug|release

Prints JSON: for each product the packages that were fetched and their size, the modules and lines
that were compiled, and the size of the stripped program. Modules are read from SwiftPM's own
description of the build, by going back from the program to everything it is made of.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

package, scratch, binaries = (pathlib.Path(a) for a in sys.argv[1:4])
configuration = sys.argv[4]
triple = re.escape(binaries.resolve().parent.name)


def commands():
    """The commands of the build description: name, inputs, outputs."""
    name = None
    for line in (scratch / f"{configuration}.yaml").open():
        if found := re.match(r'  "(.*)":$', line):
            name = found[1]
        elif line.startswith("    inputs: "):
            inputs = json.loads(line.partition(": ")[2])
        elif line.startswith("    outputs: "):
            yield name, inputs, json.loads(line.partition(": ")[2])


makers = {}
for name, inputs, outputs in commands():
    for output in outputs:
        makers[output] = (name, inputs)


def sources(program):
    """The source files behind a program, by module."""
    seen, waiting, found = set(), [program], {}
    while waiting:
        node = waiting.pop()
        if node in seen or node not in makers:
            continue
        seen.add(node)
        name, inputs = makers[node]
        swift = re.match(rf"C\.(.+)-{triple}-\w+\.module$", name)
        clang = re.search(r"/([^/]+)\.build/.*\.o$", name)
        for entry in inputs:
            if entry.endswith((".swift", ".c", ".cc", ".cpp", ".S", ".s")) and (swift or clang):
                found.setdefault((swift or clang)[1], set()).add(entry)
            waiting.append(entry)
    return found


def count_lines(paths):
    return sum(pathlib.Path(p).read_bytes().count(b"\n") for p in paths if os.path.exists(p))


def stripped_size(program):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "program")
        subprocess.run(["strip", "-o", copy, program], check=True)
        return os.path.getsize(copy)


def checkout_size(folder):
    return sum(
        os.lstat(os.path.join(path, name)).st_size
        for path, folders, names in os.walk(folder)
        if not (".git" in folders and folders.remove(".git"))
        for name in names
    )


lock = package / "Package.resolved"
pins = [p["identity"] for p in json.loads(lock.read_text())["pins"]] if lock.exists() else []
state = json.loads((scratch / "workspace-state.json").read_text())["object"]["dependencies"]
places = {d["packageRef"]["identity"]: scratch / "checkouts" / d["subpath"] for d in state}
sizes = {identity: checkout_size(places[identity]) for identity in pins}

answer = {}
for folder in sorted((package / "Sources").iterdir()):
    program = str(binaries / folder.name)
    modules = sources(program)
    modules.pop(folder.name)
    files = set().union(*modules.values()) if modules else set()
    own = [m for m in modules if re.match(r"C?Keel", m)]
    answer[folder.name.removeprefix("cost-")] = {
        "traits": package.name,
        "packages": sizes,
        "keel_modules": len(own),
        "other_modules": len(modules) - len(own),
        "keel_lines": count_lines(set().union(*(modules[m] for m in own)) if own else set()),
        "swift_lines": count_lines(f for f in files if f.endswith(".swift")),
        "c_lines": count_lines(f for f in files if not f.endswith(".swift")),
        "bytes": stripped_size(program),
    }
json.dump(answer, sys.stdout, indent=1)
