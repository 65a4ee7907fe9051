#!/usr/bin/env python3
"""Writes the manual pages of a command.

    keel --experimental-dump-help | man-pages.py FOLDER

Makes a page of the section 1 for the command and for each command below it: keel.1, keel-documents.1,
keel-documents-import.1. Writes their names to standard output.
"""

import json
import pathlib
import sys


def escaped(text):
    """Text as roff takes it: a backslash, a hyphen, and a dot at a line's beginning have meanings there."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def spelled(argument):
    """An argument as its heading names it."""
    value = argument.get("valueName") or ""
    if argument["kind"] == "positional":
        return "\\fI" + escaped(value) + "\\fR"
    names = []
    for name in argument.get("names", []):
        dashes = {"long": "--"}.get(name["kind"], "-")
        names.append("\\fB" + escaped(dashes + name["name"]) + "\\fR")
    text = ", ".join(names)
    return text + " \\fI" + escaped(value) + "\\fR" if argument["kind"] == "option" else text


def entries(arguments):
    for argument in arguments:
        yield ".TP"
        yield spelled(argument)
        about = [argument.get("abstract", ""), argument.get("discussion", "")]
        values = argument.get("allValues") or argument.get("allValueStrings")
        if values:
            about.append("Values: " + ", ".join(values) + ".")
        if argument.get("defaultValue"):
            about.append("Default: " + argument["defaultValue"] + ".")
        yield escaped(" ".join(" ".join(about).split())) or "\\&"


def page(command, path):
    """The text of a command's page."""
    name = "-".join(path)
    arguments = [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]
    below = [c for c in command.get("subcommands", []) if c["commandName"] != "help"]
    positional = [a for a in arguments if a["kind"] == "positional"]
    options = [a for a in arguments if a["kind"] != "positional"]
    usage = "\\fB" + escaped(" ".join(path)) + "\\fR"
    if options:
        usage += " [\\fIoptions\\fR]"
    if below:
        usage += " \\fIcommand\\fR"
    for argument in positional:
        word = spelled(argument) + (" ..." if argument.get("isRepeating") else "")
        usage += " [" + word + "]" if argument.get("isOptional") else " " + word
    lines = [
        '.TH "%s" "1" "" "Keel"' % name.upper(),
        ".SH NAME",
        escaped(name) + " \\- " + escaped(command.get("abstract", "").rstrip(".") or name),
        ".SH SYNOPSIS",
        usage,
    ]
    if command.get("discussion"):
        lines.append(".SH DESCRIPTION")
        paragraphs = command["discussion"].split("\n\n")
        lines.append("\n.PP\n".join(escaped(paragraph) for paragraph in paragraphs))
    if below:
        lines.append(".SH COMMANDS")
        for other in below:
            lines += [".TP", "\\fB" + escaped(other["commandName"]) + "\\fR"]
            lines.append(escaped(other.get("abstract", "")) or "\\&")
    for title, group in (("ARGUMENTS", positional), ("OPTIONS", options)):
        if group:
            lines.append(".SH " + title)
            lines += entries(group)
    related = [path[:-1]] if len(path) > 1 else []
    related += [path + [other["commandName"]] for other in below]
    if related:
        lines.append(".SH SEE ALSO")
        lines.append(", ".join("\\fB" + escaped("-".join(other)) + "\\fR(1)" for other in related))
    return "\n".join(lines) + "\n"


def write(command, path, folder):
    name = "-".join(path) + ".1"
    (folder / name).write_text(page(command, path), encoding="utf-8")
    print(name)
    for other in command.get("subcommands", []):
        if other["commandName"] != "help":
            write(other, path + [other["commandName"]], folder)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    command = json.load(sys.stdin)["command"]
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(command, [command["commandName"]], folder)


main()
