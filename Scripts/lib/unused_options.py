# SPDX-License-Identifier: MIT
"""Public options that no example, page or snippet uses: each of them is one too many.

An option is a settable property or a case of a type whose name says that it is a setting. Names come from the lists in
Documentation/PublicAPI; a use is `.name`, `name:` or the name in code quotes.
"""

import re
import sys

import source

SETTING = re.compile(r"(?:Options|Policy|Configuration|Limits|Timeouts|Rules|Pool)$")
# What a call was refused by, and what a transport does now: values to read, not to set.
RESULTS = ("NetworkError.", "TransportConfiguration.Pool.Snapshot")
# A property that can be set, or a case; a computed property without a setter ends in `{ get }`.
OPTION = re.compile(r"(?m)^([\w.]+)\.(\w+)(?:\([^ ]*\))?  (?:indirect )?(?:var \w+:(?!.*\{ get \}$)|case )")
PLACES = ("Documentation/Curlew.docc/", "Examples/", "Command/", "Tests/SnippetTests/", "README.md")


def is_setting(owner):
    return not owner.startswith(RESULTS) and any(SETTING.search(part) for part in owner.split("."))


def main():
    lists = [path for path in source.files() if path.startswith("Documentation/PublicAPI/")]
    options = sorted({(owner, name) for path in lists for owner, name in OPTION.findall(source.text(path))})
    options = [(owner, name) for owner, name in options if is_setting(owner)]
    texts = "\n".join(source.text(path) for path in source.files() if path.startswith(PLACES))
    used = set(re.findall(r"\.(\w+)\b", texts)) | set(re.findall(r"\b(\w+):", texts))
    used |= {name for code in re.findall(r"`([^`\n]+)`", texts) for name in re.findall(r"\w+", code)}
    unused = [f"{owner}.{name}" for owner, name in options if name not in used]
    for name in unused:
        print(f"{name}: no example, page or snippet uses it; remove it, or show what it is for", file=sys.stderr)
    print(f"options: {len(options)} public options and cases, {len(unused)} of them unused")
    sys.exit(1 if unused else 0)


main()
