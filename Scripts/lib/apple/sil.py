# SPDX-License-Identifier: MIT
"""What the compiler's intermediate text shows and no message tells: C functions that are called, large integers."""

import re

LITERAL = re.compile(r"  (%\d+) = integer_literal \$Builtin\.Int64, (-?\d{10,})")
INTEGER = re.compile(r"  %\d+ = struct \$U?Int \((%\d+)\)")
FUNCTION = re.compile(r"sil .*\[clang ([^\]]+)\] @")

# `Int.min`, `Int.max` and `UInt.max` are what they are on every system.
LIMITS = {-1 << 63, (1 << 63) - 1}


def fits(value):
    return -1 << 31 <= value < 1 << 32 or value in LIMITS


def read(path):
    """The C functions that the module names, and the integers too large for an `Int` of 32 bits, with their place."""
    functions, integers, comments, literals = set(), [], [], {}
    with open(path, encoding="utf-8", errors="replace") as text:
        for line in text:
            if line.startswith("  %"):
                if found := LITERAL.match(line):
                    value = int(found.group(2))
                    if not fits(value):
                        literals[found.group(1)] = value
                elif literals and (found := INTEGER.match(line)) and found.group(1) in literals:
                    integers.append([literals[found.group(1)], comments[0] if comments else "?"])
            elif line.startswith("//"):
                comments.append(line[3:].strip())
            elif line.startswith("sil "):
                literals = {}
                if found := FUNCTION.match(line):
                    functions.add(found.group(1))
            elif line.strip() == "":
                comments = []
    return {"functions": sorted(functions), "integers": integers}
