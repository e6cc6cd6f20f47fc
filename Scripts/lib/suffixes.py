# SPDX-License-Identifier: MIT
"""Packs a list of publicsuffix.org into one string that is searched where it stands: SuffixData.swift."""

import hashlib
import pathlib
import re
import sys

LIST = pathlib.Path("/usr/share/publicsuffix/public_suffix_list.dat")
CHANGES = pathlib.Path("/usr/share/doc/publicsuffix/changelog.Debian.gz")
TABLE = pathlib.Path(__file__).resolve().parents[2] / "Sources/CurlewCookies/SuffixData.swift"

HEADER = '''\
// SPDX-License-Identifier: MPL-2.0
// swift-format-ignore-file
//
// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
// distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.
//
// Written by Scripts/suffixes; do not edit. The {rules} rules of https://publicsuffix.org/list/public_suffix_list.dat
// as Debian's package `publicsuffix` {version} has them.
// SHA-256 of that file: {digest}

/// The rules of publicsuffix.org in the form that `SuffixTable` searches.
enum SuffixData {{
    /// The SHA-256 of the list that the table was made of.
    static let source = "{digest}"
    /// How many rules there are.
    static let rules = {rules}
    /// Where the top-level names begin and end.
    static let root = {start}..<{end}

    static let text: StaticString = """
{text}
        """
}}
'''


class Node:
    def __init__(self):
        self.children, self.kind = {}, ";"


def rules(text):
    for line in text.splitlines():
        word = line.split()[0] if line.split() else ""
        if word and not word.startswith("//"):
            yield word


def ascii_label(label):
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def tree(words):
    root = Node()
    for word in words:
        kind = "!" if word[0] == "!" else "*" if word.startswith("*.") else ","
        name = word.removeprefix("!").removeprefix("*.")
        node = root
        for label in reversed(name.lower().split(".")):
            label = ascii_label(label)
            if not re.fullmatch(r"[a-z0-9_-]{1,63}", label):
                sys.exit(f"Scripts/suffixes: cannot pack the rule {word}")
            node = node.children.setdefault(label, Node())
        # The parent of a wildcard is public too, so a plain rule adds nothing to it.
        if node.kind != "*":
            node.kind = kind
    return root


def letters(number):
    """A number as four capital letters: no label holds one."""
    digits = ""
    for _ in range(4):
        number, digit = divmod(number, 26)
        digits = chr(65 + digit) + digits
    if number:
        sys.exit("Scripts/suffixes: the table is too long for its addresses")
    return digits


def pack(root):
    """The blocks of siblings, those beneath before those above: each child has `label address? kind`, sorted."""
    text = []
    length = 0
    # Many countries have the same names beneath them: one block serves all.
    known = {}

    def block(node):
        nonlocal length
        entries = []
        for label, child in sorted(node.children.items()):
            address = ""
            if child.children:
                start, end = block(child)
                address = letters(start) + letters(end)
            entries.append(label + address + child.kind)
        packed = "".join(entries)
        if packed not in known:
            text.append(packed)
            known[packed] = (length, length + len(packed))
            length += len(packed)
        return known[packed]

    start, end = block(root)
    return "".join(text), start, end


def version():
    import gzip
    return gzip.decompress(CHANGES.read_bytes()).decode().split("(")[1].split(")")[0]


def main():
    if not LIST.is_file() and "--check" in sys.argv[1:]:
        print(f"suffixes: {LIST} is missing; not compared")
        return
    if not LIST.is_file():
        sys.exit(f"Scripts/suffixes: {LIST} is missing; install the package publicsuffix")
    data = LIST.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    check = "--check" in sys.argv[1:]
    if check and digest not in TABLE.read_text(encoding="utf-8"):
        print(f"suffixes: {LIST} is another list than the table was made of; not compared")
        return
    words = list(rules(data.decode("utf-8")))
    packed, start, end = pack(tree(words))
    lines = [packed[at:at + 110] for at in range(0, len(packed), 110)]
    result = HEADER.format(
        version=version(), rules=len(words), digest=digest, start=start, end=end,
        text="\n".join(" " * 8 + line + "\\" for line in lines[:-1]) + "\n" + " " * 8 + lines[-1])
    if not check:
        TABLE.write_text(result, encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != result:
        sys.exit("suffixes: the table is not what its list makes; run Scripts/suffixes")
    print(f"suffixes: {len(words)} rules in {len(packed)} bytes")


main()
