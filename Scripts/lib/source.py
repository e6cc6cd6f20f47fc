# SPDX-License-Identifier: MIT
"""What the checks share: the files of the repository, Swift text without comments and strings, the allow-list."""

import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A clone that belongs to another user, as in a container, is read all the same.
TRUST = ("-c", "safe.directory=*")
ALLOW_LIST = "Scripts/lib/allowed.txt"


@functools.cache
def files():
    """Paths of all files that are tracked, or would be, relative to the root and sorted."""
    listing = subprocess.run(
        ["git", *TRUST, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    return sorted(path for path in set(listing.split("\0")) if path and (ROOT / path).is_file())


def swift_files(*folders):
    return [path for path in files() if path.endswith(".swift") and path.startswith(folders)]


@functools.cache
def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


@functools.cache
def code(path):
    """The Swift text with comments and string contents replaced by blanks; line numbers stay."""
    return blank(text(path))


# Whatever starts first wins: a quote in a comment is no string, slashes in a string are no comment.
TOKEN = re.compile(r'//[^\n]*|/\*|(#*)("""|")|[()]')
COMMENT_EDGE = re.compile(r"/\*|\*/")


def blank(source):
    result, position = [], 0
    # Each open interpolation: its depth of parentheses, and the expression that ends the string around it.
    interpolations = []

    def erase(start, end):
        result.append(re.sub(r"[^\n]", " ", source[start:end]))

    def string(start, inside, edge):
        """Erases up to the end of the string or to the next interpolation, whose code is kept."""
        found = edge.search(source, inside)
        end = found.end() if found else len(source)
        erase(start, end)
        if found and found.group().endswith("("):
            interpolations.append([1, edge])
        return end

    while token := TOKEN.search(source, position):
        start, end = token.span()
        result.append(source[position:start])
        if token.group().startswith("//"):
            erase(start, end)
        elif token.group() == "/*":
            depth = 1
            while depth and (edge := COMMENT_EDGE.search(source, end)):
                depth += 1 if edge.group() == "/*" else -1
                end = edge.end()
            end = end if not depth else len(source)
            erase(start, end)
        elif token.group(2):
            pounds, quote = token.groups()
            # With pound signs only a backslash with as many pound signs escapes, and only such a quote ends.
            escape = r"\\" + pounds
            edge = re.compile(rf"(?s)(?:(?!{escape}|{quote}{pounds}).|{escape}[^(])*?(?:{escape}\(|{quote}{pounds})")
            end = string(start, end, edge)
        else:
            result.append(token.group())
            if interpolations:
                interpolations[-1][0] += 1 if token.group() == "(" else -1
                if interpolations[-1][0] == 0:
                    end = string(end, end, interpolations.pop()[1])
        position = end
    result.append(source[position:])
    return "".join(result)


class Findings:
    """Collects violations, minus those that the allow-list excuses; an excuse that nothing needs is a violation too."""

    def __init__(self, *rules):
        self.found, self.warnings, self.rules, self.allowed = [], [], set(rules), {}
        for number, line in enumerate(text(ALLOW_LIST).splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            entry, separator, reason = line.partition(" — ")
            fields = entry.split()
            if len(fields) != 3 or not separator or not reason.strip():
                self.found.append(f"{ALLOW_LIST}:{number}: expected `rule path what — reason`")
            elif fields[0] in self.rules:
                self.allowed[tuple(fields)] = [number, False]

    def add(self, rule, path, line, what, message):
        assert rule in self.rules, rule
        excuse = self.allowed.get((rule, path, what.replace(" ", "_")))
        if excuse:
            excuse[1] = True
        else:
            self.found.append(f"{path}:{line}: [{rule}] {message}")

    def warn(self, path, message):
        """Is shown, and fails nothing."""
        self.warnings.append(f"{path}: warning: {message}")

    def finish(self, title):
        for (rule, path, what), (number, used) in self.allowed.items():
            if not used:
                self.found.append(f"{ALLOW_LIST}:{number}: nothing needs this entry any more: {rule} {path} {what}")
        for finding in self.warnings + self.found:
            print(finding, file=sys.stderr)
        counts = [f"{len(self.found)} violations"] if self.found else ["clean"]
        if self.warnings:
            counts.append(f"{len(self.warnings)} warnings")
        print(f"{title}: " + ", ".join(counts))
        sys.exit(1 if self.found else 0)
