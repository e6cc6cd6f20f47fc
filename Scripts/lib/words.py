# SPDX-License-Identifier: MIT
"""Words: names that declarations of products must not contain, and titles of the commits since this rule.

The words are those of the second table of CONTRIBUTING.md, which says what to use instead."""

import re
import subprocess

import source

GLOSSARY = "CONTRIBUTING.md"
HEADING = "| Not in a name | But |"
TITLE_WIDTH = 72

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
NAMES = r"[\w`]+(?:\s*,\s*[\w`]+)*"
# What declares names: keywords, with lists and tuples of names; labels and parameters; the parameters of closures.
DECLARATIONS = [re.compile(pattern) for pattern in (
    r"\b(?:func|struct|class|enum|protocol|actor|typealias|associatedtype)\s+([\w`]+)",
    rf"\b(?:var|let|for|for await|for try await)\s+(?:\(\s*)?({NAMES})",
    rf"\bcase\s+({NAMES})",
    r"[(,]\s*([\w`]+(?:\s+[\w`]+)?)\s*:",
    rf"\{{\s*(?:\[[^\]\n]*\]\s*)?\(?({NAMES})\)?\s+in\b",
)]


def refused():
    """The words of the table, with the advice of their rows."""
    lines = source.text(GLOSSARY).split("\n")
    words = {}
    for line in lines[lines.index(HEADING) + 2:]:
        if not line.startswith("|"):
            break
        listed, advice = (cell.strip() for cell in line.strip("|").split("|"))
        words.update((word.strip(), advice) for word in listed.split(","))
    return words


def offence(identifier, words):
    """The first refused word of a camel-case name, also with an s at its end."""
    for word in map(str.lower, WORD.findall(identifier)):
        for form in (word, word.removesuffix("s")):
            if form in words:
                return form
    return None


def check_names(found):
    words = refused()
    for path in source.swift_files("Sources/", "Bridges/Curlew"):
        suspects = {name for name in set(IDENTIFIER.findall(source.text(path))) if offence(name, words)}
        if not suspects:
            continue
        code = source.code(path)
        for pattern in DECLARATIONS:
            for match in pattern.finditer(code):
                for name in IDENTIFIER.finditer(match.group(1)):
                    if name.group() in suspects:
                        line = code.count("\n", 0, match.start(1) + name.start()) + 1
                        word = offence(name.group(), words)
                        advice = f"`{name.group()}`: not {word}, but {words[word]}"
                        found.add("names", path, line, name.group(), advice)


def git(*arguments):
    command = ["git", *source.TRUST, *arguments]
    return subprocess.run(command, cwd=source.ROOT, check=True, capture_output=True, text=True).stdout


def check_titles(found):
    """Titles after the commit that added this file; in a shallow clone its oldest commit counts as that one."""
    added = git("log", "--diff-filter=A", "--format=%H", "--", "Scripts/lib/words.py").split()
    if not added:
        return
    for line in git("log", "--no-merges", "--format=%h %s", f"{added[-1]}..HEAD").splitlines():
        commit, _, title = line.partition(" ")
        if len(title) > TITLE_WIDTH:
            found.add("titles", commit, 1, "width", f"{len(title)} columns, at most {TITLE_WIDTH}: {title}")
        if ";" in title:
            found.add("titles", commit, 1, "semicolon", f"one change in each commit: {title}")


def main():
    found = source.Findings("names", "titles")
    check_names(found)
    check_titles(found)
    found.finish("words")


main()
