# SPDX-License-Identifier: MIT
"""Text: licence, sizes, forbidden patterns, time-limited suites, nothing of one machine, scripts for every bash."""

import pathlib
import re

import shell
import source

# A file is one idea. More lines than the first number are a reason to look for a second idea, more than the other fail.
CODE_FOLDERS = ("Tests/", "Sources/", "Bridges/", "Examples/", "Command/", "Benchmarks/")
MANY_LINES, MAXIMUM_LINES = 300, 500
# The command keeps to the rules of the library, and so do its tests and those of the sample service.
PRODUCTS = ("Sources/", "Bridges/Curlew", "Command/Sources/")
TESTS = ("Tests/", "Bridges/Tests/", "Command/Tests/", "Examples/SampleAPI/Tests/")

# Who reads or writes protocol text here; a sign with a combining mark behind it is another Character, and the same byte
# to everybody else.
PROTOCOL = tuple(f"Sources/Curlew{name}/" for name in (
    "HTTP", "Core", "Authentication", "Caching", "Cookies", "Observability", "Recording", "Resilience", "Tracing",
    "Transfers", "Curl", "URLSession", "SQLite")) + ("Bridges/Curlew",)
BY_BYTES = "compares Characters: take utf8, or ByteText.swift in CurlewHTTP"

# name, folders, pattern, what to do instead. Matched against Swift code without comments and string contents.
CODE_RULES = [
    ("trap", PRODUCTS, r"\btry!|\bas!|\b(?:fatalError|preconditionFailure)\(", "throw or return instead"),
    ("unchecked", PRODUCTS, r"@unchecked\s+Sendable", "keep the state in Locked or an actor"),
    ("unsafe", PRODUCTS, r"nonisolated\(unsafe\)", "keep the state in Locked or an actor"),
    ("sleep", PRODUCTS, r"\b(?:u|nano)sleep\(|\bThread\.sleep\b", "wait on the clock that the caller passes"),
    ("sleep", TESTS,
     r"\b(?:u|nano)sleep\(|\b(?:Thread|Task(?:<\w+, \w+>)?|(?:Continuous|Suspending)Clock\(\))\.sleep\b",
     "wait for the event itself, or advance a ManualClock"),
    # Where the contents of strings are, there are blanks: `{3,5}` is a literal of one sign with its quotes.
    ("character", PROTOCOL, r"(?<!func )\b(?:hasPrefix|hasSuffix|replacing|replacingOccurrences|trimmingPrefix)\(",
     BY_BYTES),
    ("character", PROTOCOL, r"\.(?:firstIndex|lastIndex|firstRange|ranges)\(of: {3,}\)", BY_BYTES),
    ("character", PROTOCOL,
     r"\.(?:split\(separator: {4,6}[,)]|components\(separatedBy:|trimmingCharacters\(in:)", BY_BYTES),
    ("character", PROTOCOL, r"(?:\\|\$0)\.is(?:Whitespace|Newline|Letter|Number|ASCII)\b", BY_BYTES),
    ("character", PROTOCOL, r"(?:\$0|\.first|\.last) [!=]= {4,6}(?=[}&|),{])", BY_BYTES),
    ("character", PROTOCOL, r"\.contains\( {3,4}\)| {3}\.contains\(\$0\)", BY_BYTES),
    ("testing", ("Sources/",), r"\bimport (?:Testing|XCTest)\b", "the library and its helpers run outside tests too"),
]

# The same for prose: comments that are whole lines, and literals of several words, which are errors, titles of tests
# and names of cases. The words are those of CONTRIBUTING.md.
CODE = CODE_FOLDERS
PROSE_RULES = [
    ("words", CODE, r"(?i)\b(?:who(?:so|m)?ever|(?:some|any|every)body|nobody|undone)\b",
     "name the subject: the caller, the server, the transport"),
    ("words", CODE, r"(?i)\bin line\b|\b(?:of )?one's own\b|\bhears? of\b|\bsendings\b",
     "say queue, separate or custom, is notified of, requests or attempts"),
]

# The README and the pages of the site.
PAGE = re.compile(r"README\.md|Documentation/Curlew\.docc/.*\.md")
BLOCK_WIDTH = 76

# A literal on one line; its interpolations are not prose.
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
INTERPOLATION = re.compile(r"\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")

# The same for every text file, comments and strings included.
TEXT_RULES = [
    ("unfinished", r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b", "finish it or open an issue"),
    ("machine",
     r"(?<![\w.~*)}\]-])/(?:home|Users|root|work|workspace|opt(?!/homebrew\b))/\w|(?<![\w.-])/tmp/[\w.-]+/\w",
     "a path of one machine: derive it, or take it as a parameter"),
    ("host", r"://[\w.-]*\b(?:registry|artifactory|nexus|mirrors?)\b(?![\w.-]*\.(?:example|test|invalid)\b)",
     "a package registry: builds need none, use a .example or .test name in tests"),
    ("host", r"://[\w.-]+\.(?:internal|corp|lan|intranet)\b", "a private host: use a .example or .test name"),
]

# A type or extension at file level, with its attributes.
OUTERMOST = (
    r"^(?P<attributes>(?:@\w+(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s+)*)"
    r"(?:(?:final|private|fileprivate|nonisolated)\s+)*(?P<kind>struct|class|actor|enum|extension)\s+(?P<name>\w+)")

# The title of a suite or test, and of a test without one the function. The suite's type names the unit: no title.
TITLE = re.compile(r'@(?P<kind>Test|Suite)(?:\(\s*"(?P<title>(?:[^"\\]|\\.)*)")?')
MAXIMUM_TITLE = 90
WORD = re.compile(r"[A-Z]*[a-z0-9]+")
# The tests of the documentation's pages are named after the pages.
PAGES = ("Tests/SnippetTests/", "Tests/SnippetMainActorTests/")

TEXT_SUFFIXES = (".swift", ".c", ".h", ".py", ".sh", ".md", ".txt", ".json", ".conf", ".modulemap", ".supp",
                 ".swiftinterface", ".yml")
LICENSED_SUFFIXES = (".swift", ".c", ".h", ".py", ".modulemap", ".swiftinterface", ".yml")


def is_script(path):
    return path.startswith(("Scripts/", ".ci/")) and "." not in path.rpartition("/")[2]


def lines_matching(pattern, text):
    for match in re.finditer(pattern, text):
        yield text.count("\n", 0, match.start()) + 1, match.group()


def prose(path):
    """The lines that are comments, and of the others the literals of three words or more."""
    lines = []
    for line in source.text(path).split("\n"):
        if line.lstrip().startswith("//"):
            lines.append(line)
        else:
            literals = (INTERPOLATION.sub("", text) for text in LITERAL.findall(line))
            lines.append(" / ".join(text for text in literals if len(text.split()) > 2))
    return "\n".join(lines)


def check_licence(path, found):
    first, second = (source.text(path).split("\n") + [""])[:2]
    line = second if first.startswith(("#!", "// swift-tools-version")) else first
    if "SPDX-License-Identifier: MIT" not in line:
        found.add("licence", path, 1, "header", "the first line must name the licence (SPDX-License-Identifier: MIT)")


def check_size(path, found):
    # swift format sees to the width of Swift; generated lists, the allow-list and tables of Markdown have none.
    if path.endswith((".py", ".sh", ".md", ".c", ".h", ".yml")) or is_script(path):
        for number, line in enumerate(source.text(path).split("\n"), 1):
            if len(line) > 120 and not line.startswith("|"):
                found.add("size", path, number, "width", f"{len(line)} columns, at most 120")
    count = source.text(path).count("\n")
    if path.startswith(CODE_FOLDERS) and path.endswith((".swift", ".c", ".h")):
        if count > MAXIMUM_LINES:
            advice = f"{count} lines, at most {MAXIMUM_LINES}: split it by idea"
            found.add("size", path, MAXIMUM_LINES + 1, "lines", advice)
        elif count > MANY_LINES:
            found.warn(path, f"{count} lines: is it still one idea? More than {MAXIMUM_LINES} fail")


def check_blocks(path, found):
    """Code in pages for users: the site shows so many columns, and no more without scrolling."""
    fence, last = False, ""
    for number, line in enumerate(source.text(path).split("\n"), 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif len(line) > BLOCK_WIDTH and (fence or line.startswith("    ") and not last.startswith((" ", "-", "1"))):
            found.add("size", path, number, "block", f"{len(line)} columns in a block, at most {BLOCK_WIDTH}")
        # The first line of an indented block follows a paragraph, and the others the first one.
        if line.strip() and not (line.startswith("    ") and not last.startswith((" ", "-", "1"))):
            last = line


def check_suites(path, found):
    """Every test lives in a suite, and every suite at file level has a time limit (those inside inherit it)."""
    code, owner = source.code(path), None
    for match in re.finditer(r"@Test\b|" + OUTERMOST, code, re.MULTILINE):
        line = code.count("\n", 0, match.start()) + 1
        line_start = code.rfind("\n", 0, match.start()) + 1
        if match.group("kind"):
            owner = match
        elif owner is None or (owner.end() < line_start and not code[line_start].isspace()):
            found.add("timelimit", path, line, "free", "a test outside of a suite has no time limit: put it into one")
        # An extension continues a suite that was checked where it is declared.
        elif owner.group("kind") != "extension" and ".timeLimit(" not in owner.group("attributes"):
            name = owner.group("name")
            found.add("timelimit", path, line, name, f"{name} needs @Suite(.timeLimit(.minutes(1)))")


def check_titles(path, found):
    """A test's title states a fact on one line, once in its file; without a title the function's name states it."""
    text, code, seen = source.text(path), source.code(path), set()
    for match in re.finditer(r"@(?:Test|Suite)\b", code):
        kind, title = TITLE.match(text, match.start()).group("kind", "title")
        line = text.count("\n", 0, match.start()) + 1
        if title is None:
            name = re.compile(r"\bfunc (\w+)").search(code, match.end())
            if kind == "Test" and name and not path.startswith(PAGES) and len(WORD.findall(name.group(1))) < 3:
                message = f"{name.group(1)} does not say what it tests: give the test a title"
                found.add("title", path, line, name.group(1), message)
        elif kind == "Suite":
            found.add("title", path, line, title, "the type names the suite: leave the title out")
        elif len(title) > MAXIMUM_TITLE:
            found.add("title", path, line, title, f"{len(title)} columns, at most {MAXIMUM_TITLE}: state one fact")
        elif re.match(r"(?!nil |https )[a-z]+[ ,:;']", title):
            found.add("title", path, line, title, "a title is a sentence: begin it with a capital")
        elif title in seen:
            found.add("title", path, line, title, "another test of this file has this title")
        seen.add(title)


def check_shell(path, found):
    """Scripts run on a Mac as well, with its bash and its tools."""
    text = source.text(path)
    if path.endswith(".sh") or (is_script(path) and re.match(r"#!.*\bbash$", text.split("\n")[0])):
        for line, what, advice in shell.violations(text, source.text("Scripts/lib/common.sh")):
            found.add("shell", path, line, what, f"`{what}`: {advice}")


def check_case(found):
    """Names that differ in case only are one name on most Macs and on Windows."""
    paths = {prefix for path in source.files() for prefix in (path, *map(str, pathlib.PurePath(path).parents))}
    manifests = [path for path in source.files() if path.endswith("Package.swift")]
    groups = [(path, re.findall(r'\bname: "([^"]+)"', source.text(path))) for path in manifests]
    for where, names in [(None, paths), *groups]:
        spellings = {}
        for name in names:
            spellings.setdefault(name.lower(), set()).add(name)
        for same in spellings.values():
            if len(same) > 1:
                message = f"{' and '.join(sorted(same))} differ in case only: rename one"
                found.add("case", where or min(same), 1, min(same), message)


def main():
    found = source.Findings(
        "licence", "size", "timelimit", "title", "shell", "case",
        *(rule[0] for rule in CODE_RULES + PROSE_RULES), *(rule[0] for rule in TEXT_RULES))
    for path in source.swift_files(*CODE_FOLDERS):
        for name, folders, pattern, advice in CODE_RULES:
            if path.startswith(folders):
                for line, match in lines_matching(pattern, source.code(path)):
                    found.add(name, path, line, match, f"`{match}`: {advice}")
        for name, folders, pattern, advice in PROSE_RULES:
            if path.startswith(folders):
                for line, match in lines_matching(pattern, prose(path)):
                    found.add(name, path, line, match, f"`{match}`: {advice}")
        if path.startswith(TESTS):
            check_suites(path, found)
            check_titles(path, found)
    check_case(found)
    for missed in shell.examples():
        found.add("shell", "Scripts/lib/shell.py", 1, "example", missed)
    for path in source.files():
        check_size(path, found)
        if PAGE.fullmatch(path):
            check_blocks(path, found)
        check_shell(path, found)
        if path.endswith(LICENSED_SUFFIXES) or is_script(path):
            check_licence(path, found)
        if path.endswith(TEXT_SUFFIXES) or is_script(path):
            for name, pattern, advice in TEXT_RULES:
                for line, match in lines_matching(pattern, source.text(path)):
                    found.add(name, path, line, match, f"`{match}`: {advice}")
    found.finish("rules")


main()
