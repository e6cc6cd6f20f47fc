# SPDX-License-Identifier: MIT
"""Layer rules: modules import downwards only and only what the manifest lets them, no capability imports another, and
folders of the kernel are a ladder.

A build that finds a module by chance, because another target had it built before, says nothing about the manifest.
"""

import json
import re
import subprocess

import source

# The capabilities: each of them imports the kernel, and none of them another, because they share a rung.
CAPABILITIES = {
    "CurlewAuthentication", "CurlewCaching", "CurlewCookies", "CurlewObservability", "CurlewRecording",
    "CurlewResilience", "CurlewStreams", "CurlewTracing", "CurlewTransfers",
}

# The ladder: the whole of it. A module imports modules of lower rungs, never of its own.
RUNGS = [
    {"CCurl", "CCrypto", "CStack", "CZlib", "CSQLite", "CurlewFoundation"},
    {"CurlewHTTP", "CurlewJSON"},
    {"CurlewCore"},
    CAPABILITIES,
    {"CurlewCurl", "CurlewURLSession", "CurlewSQLite", "CurlewUI"},
    {"Curlew"},
    {"CurlewTesting"},
]

# What a module must not import although it stands higher. The helpers for tests work with any transport.
FORBIDDEN = {"CurlewTesting": {"Curlew", "CurlewCurl", "CurlewURLSession"}}
# Transports carry what the kernel gives them; a store or a screen may know the capability that it serves.
FORBIDDEN |= {transport: CAPABILITIES for transport in ("CurlewCurl", "CurlewURLSession")}
FORBIDDEN |= {
    name: CAPABILITIES - known
    for name, known in {"CurlewSQLite": {"CurlewCaching"}, "CurlewUI": {"CurlewCaching", "CurlewTransfers"}}.items()
}

# The modules that may import a C target.
OWNERS = {
    "CCurl": ["CurlewCurl"], "CCrypto": ["CurlewCore"], "CStack": ["CurlewJSON"],
    "CZlib": ["CurlewStreams"], "CSQLite": ["CurlewSQLite"],
}

# The folders of CurlewCore, lowest first.
FOLDERS = ["Support", "Exchange", "Engine", "Endpoints", "Hooks", "Redirects", "Retry", "Standard"]

# The bridges in Bridges/, over the public API alone: the modules that each imports beside those of every bridge.
BRIDGES = {
    "CurlewSwiftLog": {"Logging"}, "CurlewSwiftMetrics": {"CoreMetrics"},
    "CurlewSwiftDistributedTracing": {"Tracing"}, "CurlewServiceLifecycle": {"ServiceLifecycle"},
    "CurlewHTTPTypes": {"HTTPTypes"}, "CurlewOpenAPIRuntime": {"CurlewHTTPTypes", "HTTPTypes", "OpenAPIRuntime"},
}
BRIDGE_IMPORTS = {"Curlew", "CurlewTracing", "Synchronization", "os"}
BRIDGE_LINES = 300

# What the system brings. Foundation only where FoundationEssentials is absent; the rest of it links ICU.
LIBRARIES = {"FoundationEssentials", "Glibc", "Musl", "Android", "WinSDK", "ucrt"}
SYSTEM = LIBRARIES | {"Foundation", "Synchronization", "Darwin", "Dispatch"}
APPLE = {
    "AppKit", "Combine", "CryptoKit", "ImageIO", "Network", "OSLog", "SQLite3", "Security", "SwiftUI", "UIKit", "os",
}
# Observation comes with the compiler, on Linux too.
EXTRA = {"CurlewURLSession": {"FoundationNetworking", "Foundation"}, "CurlewUI": {"Observation"}}

IMPORT = re.compile(
    r"(?m)^[ \t]*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|actor|typealias|func|var|let)\s+)?(\w+)")
DECLARATION = re.compile(
    r"(?m)^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|final|indirect|nonisolated)\s+)*"
    r"(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)")


def rung(module):
    return next((index for index, modules in enumerate(RUNGS) if module in modules), None)


def condition(code, position):
    """The text of the `#if` branches that are open at a position, innermost last."""
    branches = []
    for match in re.finditer(r"(?m)^[ \t]*#(if|elseif|else|endif)\b(.*)$", code[:position]):
        kind, text = match.group(1), match.group(2).strip()
        if kind == "if":
            branches.append(text)
        elif branches and kind == "endif":
            branches.pop()
        elif branches:
            branches[-1] = f"not {branches[-1]}" if kind == "else" else text
    return branches


def dependencies():
    """The targets that the manifest lets each target import."""
    text = subprocess.run(
        ["swift", "package", "describe", "--type", "json"], check=True, stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL).stdout
    return {target["name"]: target.get("target_dependencies", []) for target in json.loads(text)["targets"]}


def check_import(path, module, match, declared, found):
    name, code = match.group(1), source.code(path)
    line = code.count("\n", 0, match.start(1)) + 1

    def violation(message):
        found.add("import", path, line, name, f"import {name}: {message}")

    if rung(name) is not None:
        if rung(name) >= rung(module):
            violation(f"{module} stands on rung {rung(module)}, {name} on {rung(name)}; arrows point down only")
        elif name in OWNERS and module not in OWNERS[name]:
            violation(f"only {' and '.join(OWNERS[name])} may")
        elif name in FORBIDDEN.get(module, ()):
            violation(f"{module} must work without it")
        elif name not in declared[module]:
            violation(f"Package.swift does not name it among the dependencies of {module}")
    elif name in LIBRARIES and module not in ("CurlewFoundation", "Curlew"):
        violation("import CurlewFoundation, which re-exports it")
    elif name == "Foundation" and name not in EXTRA.get(module, ()):
        guards = ("not canImport(FoundationEssentials)", "!canImport(FoundationEssentials)")
        if not any(guard in branch for branch in condition(code, match.start()) for guard in guards):
            violation("only in the #else of #if canImport(FoundationEssentials)")
    elif name in APPLE:
        guards = (f"canImport({name})", "canImport(Darwin)", "canImport(SwiftUI)")
        if not any(branch.startswith(guards) for branch in condition(code, match.start())):
            violation(f"only under #if canImport({name})")
    elif name not in SYSTEM | EXTRA.get(module, set()):
        violation("not in the table of Scripts/lib/layers.py; Curlew has package dependencies in Bridges only")


def check_folders(found):
    declared = {folder: set() for folder in FOLDERS}
    paths = []
    for path in source.swift_files("Sources/CurlewCore/"):
        folder = path.split("/")[2]
        if folder not in declared:
            found.add("folder", path, 1, folder, f"CurlewCore has the folders {', '.join(FOLDERS)}; choose one")
            continue
        paths.append((path, folder))
        declared[folder].update(DECLARATION.findall(source.code(path)))
    for path, folder in paths:
        height = FOLDERS.index(folder)
        beneath = set().union(*(declared[name] for name in FOLDERS[:height + 1]))
        above = {name: upper for upper in FOLDERS[height + 1:] for name in declared[upper] if name not in beneath}
        # A name after a dot is a member of something else.
        for line, text in enumerate(source.code(path).split("\n"), 1):
            for name in re.findall(r"(?<![.\w])([A-Z]\w*)\b", text):
                if name in above:
                    found.add("folder", path, line, name, f"{folder}/ names {name} of {above[name]}/ above it")


def stands_under(trait, code):
    """Whether all of the code is in one branch of one `#if`, that of the trait."""
    lines, depth = [line.strip() for line in code.split("\n") if line.strip()], 0
    for number, line in enumerate(lines):
        depth += line.startswith("#if ") - line.startswith("#endif")
        outside = depth == 0 and number + 1 < len(lines)
        if outside or (depth == 1 and line.startswith("#else")):
            return False
    return lines[:1] == [f"#if {trait}"]


def check_bridges(found):
    """Without its trait, a bridge is empty, so that the package needs no other."""
    counts = dict.fromkeys(BRIDGES, 0)
    for path in source.swift_files("Bridges/Curlew"):
        module, code = path.split("/")[1], source.code(path)
        if module not in BRIDGES:
            found.add("module", path, 1, module, f"{module} is not in the table of bridges in Scripts/lib/layers.py")
            continue
        counts[module] += source.text(path).count("\n")
        trait = module.removeprefix("Curlew")
        if not stands_under(trait, code):
            found.add("module", path, 1, module, f"the whole file belongs between #if {trait} and #endif")
        for match in IMPORT.finditer(code):
            name = match.group(1)
            if name not in BRIDGE_IMPORTS | BRIDGES[module]:
                line = code.count("\n", 0, match.start(1)) + 1
                found.add("import", path, line, name, f"import {name}: not in the table of bridges in this script")
    for module, count in counts.items():
        if not 0 < count <= BRIDGE_LINES:
            found.add("module", f"Bridges/{module}", 1, module, f"{count} lines of 1 to {BRIDGE_LINES}")


def main():
    found, declared = source.Findings("import", "folder", "module"), dependencies()
    check_bridges(found)
    for path in source.swift_files("Sources/"):
        module = path.split("/")[1]
        if rung(module) is None:
            found.add("module", path, 1, module, f"{module} has no rung in the table of Scripts/lib/layers.py")
            continue
        for match in IMPORT.finditer(source.code(path)):
            check_import(path, module, match, declared, found)
    check_folders(found)
    found.finish("layers")


main()
