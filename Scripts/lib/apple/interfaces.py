# SPDX-License-Identifier: MIT
"""Interfaces of Swift's own modules, made from those of the installed toolchain so that they fit Apple's platforms.

The toolchain of Linux has no module for Apple's targets. It has the textual interfaces of the standard library, with
Apple's availability in them, and Foundation as a binary module, whose interface the compiler prints. Both come from
the same sources as Apple's. Nothing of this is kept in the repository.
"""

import re
import subprocess

# Apple has one Foundation: `canImport(FoundationEssentials)` must be false.
RENAMED = {
    "FoundationEssentials": "_FoundationEssentials",
    "FoundationInternationalization": "_FoundationInternationalization",
}

STANDARD = ["Swift", "_Concurrency", "_RegexParser", "_StringProcessing", "SwiftOnoneSupport", "Synchronization",
            "Observation", "Testing"]
FOUNDATION = ["FoundationEssentials", "FoundationInternationalization", "Foundation"]

IMPORTS = {
    "FoundationEssentials": ["Darwin", "Swift", "_Concurrency", "_StringProcessing"],
    "FoundationInternationalization":
        ["Darwin", "Swift", "_Concurrency", "_StringProcessing", "_FoundationEssentials"],
    "Foundation": ["Swift", "_Concurrency", "_StringProcessing"],
}
EXPORTS = {"Foundation": ["Darwin", "Dispatch", *RENAMED.values()]}

# Features that the printed interfaces of Foundation are written in.
FEATURES = ["NonescapableTypes", "Lifetimes", "LifetimeDependence", "InoutLifetimeDependence",
            "LifetimeDependenceMutableAccessors", "AddressableParameters", "AddressableTypes", "AllowUnsafeAttribute"]

# What only the compiler for Objective-C declares.
AUTORELEASING = """
@frozen public struct AutoreleasingUnsafeMutablePointer<Pointee> : Swift._Pointer {
  public let _rawValue: Builtin.RawPointer
  public init(_ _rawValue: Builtin.RawPointer)
  public var pointee: Pointee { get nonmutating set }
}
"""

ATTRIBUTE = r"@\w+(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*"
ONLY_ATTRIBUTES = re.compile(rf"^\s*(?:{ATTRIBUTE})+$")
HIDDEN = re.compile(
    rf"^\s*(?:{ATTRIBUTE})*(?:(?:override|final|static|class|lazy|weak|mutating|nonisolated|convenience|required|"
    r"indirect|dynamic|unowned(?:\(\w+\))?)\s+)*(?:internal|private|fileprivate|package)\s")


def header(module, triple, compiler, language="5"):
    """The head of an interface that is not the toolchain's own text."""
    features = " ".join(f"-enable-experimental-feature {name}" for name in FEATURES)
    return (
        f"// swift-interface-format-version: 1.0\n// swift-compiler-version: {compiler}\n"
        f"// swift-module-flags: -target {triple} -disable-objc-interop -enable-library-evolution "
        f"-swift-version {language} -Onone {features} -module-name {module}\n")


def without(text, *names):
    """The text without the extensions of these types."""
    types = "|".join(map(re.escape, names))
    return re.sub(rf"(?m)^(?:@[^\n]*\n)*extension (?:{types})\b[^\n]*\{{\n(?: [^\n]*\n)*\}}\n", "", text)


def public_only(text):
    """Without declarations that users cannot name, such as private storage, whose types are not printed."""
    lines, kept, attributes, index, hidden = text.split("\n"), [], [], 0, []
    while index < len(lines):
        line = lines[index]
        if ONLY_ATTRIBUTES.match(line):
            attributes.append(line)
        elif HIDDEN.match(line):
            attributes = []
            if name := re.match(r"^(?:.*\s)?(?:class|struct|enum|protocol|actor) (\w+)", line):
                hidden.append(name.group(1))
            if line.rstrip().endswith("{"):
                end = line[:len(line) - len(line.lstrip())] + "}"
                while lines[index] != end:
                    index += 1
        else:
            kept += [*attributes, line]
            attributes = []
        index += 1
    return "\n".join(kept + attributes), hidden


def foundation(module, text):
    """The body of a module of Foundation, without its head."""
    body = "\n".join(line for line in text.split("\n")[4:] if not re.match(r"(?:@_exported )?import ", line))
    body, hidden = public_only(body)
    body = without(body, "Dispatch.DispatchData", *(f"{module}.{name}" for name in hidden if name.startswith("_")))
    # The open Foundation's placeholders for what is in FoundationNetworking and FoundationXML.
    body = re.sub(r'(?m)^@available\(\*, unavailable, message: "This type has moved[^\n]*\n[^\n]*\n', "", body)
    # Constants are printed like variables, without their values.
    body = re.sub(r"(?m)^(\s*)@_hasInitialValue public (static )?var (\S+): ([^{\n]+)$", r"\1public \2let \3: \4", body)
    body = body.replace("@_transparent ", "")
    for name, other in RENAMED.items():
        body = re.sub(rf"\b{name}\b", other, body)
    # Results of Objective-C's methods may be ignored.
    body = discardable(body)
    # On Apple's platforms but the Mac no program starts another one.
    body = re.sub(r"(?m)^((?:.*open class|extension Foundation\.)\s*Process\b)", rf"{only_on_macos()}\1", body)
    imports = [f"@_exported import {name}" for name in EXPORTS.get(module, [])]
    imports += [f"import {name}" for name in IMPORTS[module]]
    return "\n".join([*imports, re.sub(r"\b(?:Swift)?Glibc\.", "Darwin.", body)])


def discardable(text):
    text = re.sub(r"(?m)^( +)((?:override )?open (?:class )?func [^\n]* -> )", r"\1@discardableResult \2", text)
    return re.sub(r"(?m)^ *@discardableResult\n((?: *@[^\n]*\n)*?)(?= +@discardableResult open)", r"\1", text)


def only_on_macos():
    return "".join(f"@available({name}, unavailable)\n" for name in ("iOS", "tvOS", "watchOS", "visionOS"))


def standard(module, text, triple, own):
    """An interface of the toolchain, for another target."""
    text = text.replace(own, triple).replace("import Glibc", "import Darwin")
    head, body = text.split("\n", 4)[:4], text.split("\n", 4)[4]
    # Optimized inlinable code is what no check looks at, and takes longer than all the rest.
    head[2] = head[2].replace(" -O ", " -Onone ")
    # Functions that are copied into users where the system lacks them, printed without their bodies.
    body = re.sub(r"(?m)^ *@backDeployed\([^)]*\)\n", "", body)
    if module == "Swift":
        body += AUTORELEASING
    if module == "Synchronization":
        # The thread's number, of the lock of Linux.
        body += "@usableFromInline internal func _swift_stdlib_gettid() -> Swift.UInt32\n"
    if module == "Testing":
        # Exit tests run on macOS only.
        body = re.sub(
            r"(?m)^(@freestanding\(expression\) public macro \w+\(processExitsWith)", rf"{only_on_macos()}\1", body)
    return "\n".join([*head, body])


def posix_errors(glibc):
    """The codes of POSIX errors, which Swift declares in the module of the C library."""
    start = glibc.index("public enum POSIXErrorCode")
    text = glibc[start:glibc.index("\n}\n", start) + 3]
    text += "".join(line + "\n" for line in glibc.split("\n") if line.startswith("extension Glibc.POSIXErrorCode"))
    return text.replace("Glibc.", "Darwin.")


def printed(module, toolchain, folder):
    """The interface of a binary module, printed once by the compiler."""
    path = folder / f"{module}.swiftinterface"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [toolchain.frontend, "-merge-modules", toolchain.module(module, ".swiftmodule"), "-module-name", module,
             "-emit-module", "-o", folder / f"{module}.swiftmodule", "-emit-module-interface-path", path,
             "-target", toolchain.triple, "-enable-library-evolution", "-swift-version", "6"],
            check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return path.read_text(encoding="utf-8")
