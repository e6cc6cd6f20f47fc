# SPDX-License-Identifier: MIT
"""Compares "What you get" in the README with Scripts/lib/promises.txt: each sentence, and the tests that keep it.

Also that every product of the package is named there."""

import re

import source

README, TABLE, HEADING = "README.md", "Scripts/lib/promises.txt", "## What you get"
SUITE = re.compile(r"(?m)^(?:@\w+\s+)*(?:final )?(?:struct|class|actor|enum) (\w+)")


def section():
    return source.text(README).partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]


def sentences(text):
    """Those of the list, without marks of Markdown."""
    for item in re.split(r"\n- ", text)[1:]:
        plain = re.sub(r"\s+", " ", item.partition("\n\n")[0]).replace("**", "").replace("`", "").strip()
        yield from re.split(r"(?<=\.) (?=[A-Z])", plain)


def suites():
    """The types in files with tests. Snippets count: a test compiles them, and `SnippetTests` runs some."""
    found = set()
    for path in source.swift_files("Tests/", "Command/Tests/", "Bridges/Tests/"):
        if "@Test" in source.text(path):
            found.update(SUITE.findall(source.text(path)))
    return found


def main():
    found, known, listed = source.Findings("promise"), suites(), {}
    for number, line in enumerate(source.text(TABLE).splitlines(), 1):
        if line and not line.startswith("#"):
            sentence, _, tests = line.partition(" — ")
            listed[sentence] = number
            names = [name.strip() for name in tests.split(",") if name.strip()]
            for name in names:
                if name not in known:
                    found.add("promise", TABLE, number, name, f"there are no tests {name}")
            if not names:
                found.add("promise", TABLE, number, "tests", "names no tests")
    promised = list(sentences(section()))
    for sentence in promised:
        if sentence not in listed:
            found.add("promise", README, 1, "sentence", f"{TABLE} has no tests for: {sentence}")
    for sentence in set(listed) - set(promised):
        found.add("promise", TABLE, listed[sentence], "sentence", "the README does not say this any more")
    for product in re.findall(r'\.library\(name: "(\w+)"', source.text("Package.swift")):
        if f"`{product}`" not in section() and f"`import {product}`" not in section():
            found.add("promise", README, 1, product, f"{HEADING[3:]} does not name the product {product}")
    if len(promised) < 10:
        found.add("promise", README, 1, "section", "the section is not read")
    found.finish("promises")


main()
