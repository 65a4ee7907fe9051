#!/usr/bin/env python3
"""Writes one package for each set of traits, with a program for each library product.

    packages.py <folder of Keel> <folder to write to> <product>…

Every product needs a program in Scripts/cost/Programs, and every program a product. A first line
`// Traits: A, B` names the traits that the product needs, `default` the default ones. Prints the
names of the packages, one a line.
"""

import pathlib
import re
import shutil
import sys

keel, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
programs = {p.stem: p for p in (keel / "Scripts/cost/Programs").glob("*.swift")}
products = set(sys.argv[3:])
if products != set(programs):
    sys.exit(
        "error: products and programs in Scripts/cost/Programs differ: "
        + ", ".join(sorted(products ^ set(programs)))
    )

sets = {}
for product, path in sorted(programs.items()):
    source = path.read_text()
    traits = re.match(r"// Traits: (.*)\n", source)
    names = tuple(sorted(traits[1].split(", "))) if traits else ()
    imports = set(re.findall(r"^import (\w+)", source, re.MULTILINE))
    sets.setdefault(names, []).append((product, source, imports))

# Modules that a program imports beside Keel's, and where they are from.
OTHERS = {
    "HTTPTypes": ("swift-http-types", "https://github.com/apple/swift-http-types", "1.8.0"),
    "Logging": ("swift-log", "https://github.com/apple/swift-log", "1.16.2"),
    "ServiceLifecycle": (
        "swift-service-lifecycle",
        "https://github.com/swift-server/swift-service-lifecycle",
        "2.13.0",
    ),
}


def target_lines(product, imports):
    dependencies = [f'.product(name: "{m}", package: "keel")' for m in sorted(imports & products)]
    dependencies += [
        f'.product(name: "{m}", package: "{OTHERS[m][0]}")' for m in sorted(imports & set(OTHERS))
    ]
    return f'.executableTarget(name: "cost-{product}", dependencies: [{", ".join(dependencies)}]),'


for names, members in sorted(sets.items()):
    # What needs nothing else is the measure of what a program takes without Keel.
    if not names:
        members = [("nothing", 'print("Hello")\n', set()), *members]
    name = "-".join(names) or "none"
    folder = target / name
    shutil.rmtree(folder / "Sources", ignore_errors=True)
    used = set().union(*(imports for _, _, imports in members))
    traits = "" if names == ("default",) else f", traits: {list(names)}".replace("'", '"')
    dependencies = [f'.package(name: "keel", path: "{keel}"{traits}),'] + [
        f'.package(url: "{OTHERS[m][1]}", from: "{OTHERS[m][2]}"),' for m in sorted(used & set(OTHERS))
    ]
    manifest = [
        "// swift-tools-version: 6.2",
        "import PackageDescription",
        "let package = Package(",
        '    name: "cost",',
        "    platforms: [.macOS(.v15)],",
        f"    dependencies: [{' '.join(dependencies)}],",
        f"    targets: [{' '.join(target_lines(p, i) for p, _, i in members)}]",
        ")",
    ]
    for product, source, _ in members:
        place = folder / "Sources" / f"cost-{product}"
        place.mkdir(parents=True)
        (place / "main.swift").write_text(source)
    (folder / "Package.swift").write_text("\n".join(manifest) + "\n")
    print(name)
