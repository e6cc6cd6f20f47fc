# SPDX-License-Identifier: MIT
"""What the compiler's intermediate text shows and no message tells: C functions that are called, large integers."""

import re

LITERAL = re.compile(r"  (%\d+) = integer_literal \$Builtin\.Int64, (-?\d{10,})")
# An integer is made: in a function, or as the whole value of a constant.
MADE = re.compile(r"  %\w+ = struct \$(U?Int) \((%\d+)\)")
# One is taken apart for arithmetic or a comparison, and the literal is the other operand.
TAKEN = re.compile(r"  (%\d+) = struct_extract %\d+, #(U?Int)\._value")
COMPUTED = re.compile(r'  (%\d+) = builtin "(\w+)_Int64"\(([^)]*)\)')
RESULT = re.compile(r"  (%\d+) = tuple_extract (%\d+), 0")
FUNCTION = re.compile(r"sil .*\[clang ([^\]]+)\] @")

# `Int.min`, `Int.max`, `UInt.max` and parts such as `Int.max / 16` are what they are on every system.
LIMITS = {-1 << 63, *((1 << bits) - 1 for bits in range(56, 64))}
# Every `UInt32(x)` asks whether `x` is beyond this. What is written in a comparison looks the same, and is let pass.
UINT32_MAX = (1 << 32) - 1


def fits(value, kind):
    return value in LIMITS or (0 <= value < 1 << 32 if kind == "UInt" else -1 << 31 <= value < 1 << 31)


class Body:
    """A function, or the value of a constant: which of its values are literals, which come from integers."""

    def __init__(self):
        self.literals, self.kinds = {}, {}

    def read(self, line):
        """The literals on this line that an integer of 32 bits does not hold."""
        if found := LITERAL.match(line):
            self.literals[found[1]] = int(found[2])
        elif found := MADE.match(line):
            return self.beyond([found[2]], found[1])
        elif found := TAKEN.match(line):
            self.kinds[found[1]] = found[2]
        elif found := COMPUTED.match(line):
            operands = found[3].split(", ")
            kinds = [self.kinds[operand] for operand in operands if operand in self.kinds]
            if kinds:
                self.kinds[found[1]] = kinds[0]
                is_comparison = found[2].startswith("cmp_")
                return [value for value in self.beyond(operands, kinds[0])
                        if not (is_comparison and value == UINT32_MAX)]
        elif (found := RESULT.match(line)) and found[2] in self.kinds:
            self.kinds[found[1]] = self.kinds[found[2]]
        return []

    def beyond(self, names, kind):
        values = [self.literals[name] for name in names if name in self.literals]
        return [value for value in values if not fits(value, kind)]


def read(path):
    """The C functions that the module names, and the integers too large for an `Int` of 32 bits, with their place."""
    functions, integers, comments, place, body = set(), [], [], "?", Body()
    with open(path, encoding="utf-8", errors="replace") as text:
        for line in text:
            if line.startswith("  %"):
                integers += [[value, place] for value in body.read(line)]
            elif line.startswith("//"):
                comments.append(line[3:].strip())
            elif line.startswith(("sil ", "sil_global ")):
                body, place = Body(), comments[0] if comments else "?"
                if found := FUNCTION.match(line):
                    functions.add(found[1])
            elif line.strip() == "":
                comments = []
    return {"functions": sorted(functions), "integers": integers}
