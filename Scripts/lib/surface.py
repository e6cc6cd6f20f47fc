# SPDX-License-Identifier: MIT
"""The public surface: one line per public declaration, compared with the list in Documentation/PublicAPI.

    surface.py <folder of symbol graphs>             compares, and reports declarations without documentation
    surface.py <folder of symbol graphs> --update    rewrites the lists
    surface.py --count                               what `import Curlew` brings on Linux, and the largest types, by
                                                     the lists
"""

import collections
import difflib
import functools
import json
import pathlib
import re
import subprocess
import sys

import source

LISTS = source.ROOT / "Documentation/PublicAPI"
# Every type that is not marked otherwise has these; as lines they would only be noise.
IMPLIED = {"Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"}
# A line that declares a name of its own, not a member and not an extension of somebody else's type.
NAME = re.compile(
    r"(?m)^(\w+)(?:\([^ ]*\))?  (?:@\w+(?:\([^)]*\))? )*(?:final |nonisolated )*"
    r"(?:struct|class|enum|actor|protocol|typealias|func) ")
# Members whose meaning is their protocol's.
UNWRITTEN = ("==(_:_:)", "!=(_:_:)", "hash(into:)", "hashValue", "encode(to:)", "init(from:)")


def modules():
    """The modules that users can import: those with Swift sources of ours."""
    return sorted({path.split("/")[1] for path in source.swift_files("Sources/")})


def umbrella():
    """What `import Curlew` brings on Linux: the top-level names, and the number of entries of each type."""
    exports = (source.ROOT / "Sources/Curlew/Exports.swift").read_text().rpartition("#else")[0]
    brought = ["Curlew", *re.findall(r"@_exported public import (Curlew\w+)", exports)]
    text = "".join((LISTS / f"{module}.txt").read_text() for module in brought)
    # A single type of a module that is otherwise imported on purpose.
    for module, name in re.findall(r"@_exported public import \w+ (Curlew\w+)\.(\w+)", exports):
        lines = (LISTS / f"{module}.txt").read_text().splitlines(keepends=True)
        text += "".join(line for line in lines if re.match(rf"{name}\b", line))
    entries = collections.Counter(re.match(r"\w+", line).group() for line in text.splitlines())
    return set(NAME.findall(text)), entries


def count():
    names, entries = umbrella()
    for name, number in entries.most_common(40):
        print(f"{number:5}  {name}")
    print(f"import Curlew: {len(names)} top-level names, {entries.total()} entries")


def graphs(folder, module):
    """The module's own graph, and one for every foreign module that it extends."""
    for path in [folder / f"{module}.symbols.json", *sorted(folder.glob(f"{module}@*.symbols.json"))]:
        yield json.loads(path.read_text())


@functools.cache
def names_of(folder):
    """The names of our own declarations by the compiler's identifier, over all modules."""
    symbols = (symbol for module in modules() for graph in graphs(folder, module) for symbol in graph["symbols"])
    return {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in symbols}


@functools.cache
def foreign_name(identifier):
    """The name of a type of another module: `s:SS` is String."""
    mangled = identifier.replace("s:", "$s", 1)
    command = ["swift", "demangle", "--compact", "--simplified", mangled]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def requirement(constraint):
    relation = {"conformance": ":", "superclass": ":", "sameType": "=="}[constraint["kind"]]
    return f"{constraint['lhs']} {relation} {constraint['rhs']}"


def declaration(symbol, conformances):
    line = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    line = " ".join(line.split())
    # A protocol's own text names what it inherits.
    if conformances and symbol["kind"]["identifier"] != "swift.protocol":
        line += " : " + ", ".join(sorted(conformances))
    constraints = symbol.get("swiftExtension", {}).get("constraints", [])
    if constraints and " where " not in line:
        line += " where " + ", ".join(map(requirement, constraints))
    return line


def place(symbol):
    """Where the declaration is written, as path and line; nowhere if the compiler wrote it."""
    if "location" not in symbol:
        return None
    path = symbol["location"]["uri"].partition("/Sources/")[2]
    return f"Sources/{path}", symbol["location"]["position"]["line"] + 1


def shared_lines(symbols):
    """The lines of cases that share the comment of their enum: several on a line, and the next to them; and nowhere."""
    cases = [place(symbol) for symbol in symbols if symbol["kind"]["identifier"] == "swift.enum.case"]
    shared = {line for line in cases if line and cases.count(line) > 1}
    return {(path, line + step) for path, line in shared for step in (-1, 0, 1)} | {None}


def surface(folder, module):
    """The sorted lines, and the locations of what has no documentation."""
    lines, undocumented = set(), set()
    names = names_of(folder)
    for graph in graphs(folder, module):
        conformances = {}
        for relation in graph["relationships"]:
            target = names.get(relation["target"]) or relation.get("targetFallback", "?")
            if relation["kind"] in ("conformsTo", "inheritsFrom") and target not in IMPLIED:
                conditions = " and ".join(map(requirement, relation.get("swiftConstraints", [])))
                conformance = target.removeprefix("Swift.") + (f" (where {conditions})" if conditions else "")
                conformances.setdefault(relation["source"], set()).add(conformance)
        shared = shared_lines(graph["symbols"])
        for symbol in graph["symbols"]:
            name = ".".join(symbol["pathComponents"])
            lines.add(f"{name}  {declaration(symbol, conformances.pop(symbol['identifier']['precise'], ()))}")
            if "docComment" not in symbol and not name.endswith(UNWRITTEN) and place(symbol) not in shared:
                undocumented.add((*place(symbol), name))
        # What is left belongs to types of other modules, which were Sendable before.
        for identifier, protocols in conformances.items():
            owner = names.get(identifier) or foreign_name(identifier)
            lines.update(f"{owner}  conforms to {name}" for name in protocols if not name.startswith("Sendable"))
    return sorted(lines), sorted(undocumented)


def main():
    if sys.argv[1:] == ["--count"]:
        return count()
    folder, update = pathlib.Path(sys.argv[1]), "--update" in sys.argv[2:]
    problems, total = [], 0
    lists = {}
    for module in modules():
        lists[LISTS / f"{module}.txt"], undocumented = surface(folder, module)
        problems += [f"{path}:{line}: {name} is public and has no documentation" for path, line, name in undocumented]
    LISTS.mkdir(parents=True, exist_ok=True)
    for path in set(LISTS.glob("*.txt")) | set(lists):
        old = path.read_text().splitlines() if path.exists() else []
        new = lists.get(path, [])
        total += len(new)
        if update and new:
            path.write_text("\n".join(new) + "\n")
        elif update:
            path.unlink(missing_ok=True)
        elif old != new:
            name = str(path.relative_to(source.ROOT))
            problems += list(difflib.unified_diff(old, new, name, name, n=0, lineterm=""))
            problems.append(f"{name}: the public surface changed; if that is meant: Scripts/check --update-surface")
    for problem in problems:
        print(problem, file=sys.stderr)
    verdict = f"{len(problems)} lines of problems" if problems else "as listed"
    names, entries = umbrella()
    print(f"surface: {total} public declarations, {verdict}")
    print(f"import Curlew: {len(names)} top-level names, {entries.total()} entries")
    sys.exit(1 if problems else 0)


main()
