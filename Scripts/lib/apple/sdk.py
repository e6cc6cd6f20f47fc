# SPDX-License-Identifier: MIT
"""The stub of an Apple SDK: the steps that make its modules for one platform, and the flags that use them."""

import functools
import json
import pathlib
import re
import shutil
import subprocess

import interfaces
import work

# Apple's names of the platforms, as a manifest has them, and their triples.
PLATFORMS = {
    "macos": "apple-macos{}", "ios": "apple-ios{}-simulator", "tvos": "apple-tvos{}-simulator",
    "watchos": "apple-watchos{}-simulator", "visionos": "apple-xros{}-simulator",
}

# Modules in the order in which they need each other; those of the toolchain are in interfaces.STANDARD.
NEEDS = {
    "Swift": [], "SwiftOnoneSupport": ["Swift"], "_Concurrency": ["SwiftOnoneSupport"],
    "_RegexParser": ["SwiftOnoneSupport"], "_StringProcessing": ["_RegexParser", "_Concurrency"],
    "Darwin": ["_StringProcessing"], "os": ["_StringProcessing"], "Dispatch": ["Darwin"],
    "Synchronization": ["Darwin"], "Observation": ["Darwin"], "Testing": ["_StringProcessing"],
    "_FoundationEssentials": ["Darwin"], "_FoundationInternationalization": ["_FoundationEssentials"],
    "Foundation": ["_FoundationInternationalization", "Dispatch"], "CryptoKit": ["Foundation"],
    "Security": ["Foundation"], "Combine": ["Dispatch"], "UniformTypeIdentifiers": ["_StringProcessing"],
    "AppKit": ["Foundation"], "UIKit": ["Foundation"], "ImageIO": ["Foundation"],
    "SwiftUI": ["AppKit", "UIKit", "ImageIO", "Combine", "Observation", "UniformTypeIdentifiers"],
}

HEADERS = ["Darwin", "os"]

# What an SDK says of itself. For visionOS that is which of its versions came with which of iOS: a declaration without
# an availability for visionOS has the one that follows from iOS.
SETTINGS = {
    "visionos": {
        "Version": "26.0", "MaximumDeploymentTarget": "26.99", "CanonicalName": "xros26.0", "VersionMap": {
            "iOS_xrOS": {"17.0": "1.0", "17.4": "1.1", "17.5": "1.2", "18.0": "2.0", "26.0": "26.0"},
            "xrOS_iOS": {"1.0": "17.0", "1.1": "17.4", "1.2": "17.5", "2.0": "18.0", "26.0": "26.0"},
        },
    },
}


class Toolchain:
    """The installed compiler, and what lies beside it."""

    def __init__(self):
        swiftc = shutil.which("swiftc")
        target = json.loads(self._output(swiftc, "-print-target-info"))
        self.compiler = target["compilerVersion"]
        self.triple = target["target"]["triple"]
        self.resources = pathlib.Path(target["paths"]["runtimeResourcePath"])
        programs = self.resources.parents[1] / "bin"
        self.frontend = programs / "swift-frontend"
        self.clang = programs / "clang"
        self.symbols = programs / "llvm-nm"
        self.plugins = self.resources / "host/plugins"

    @staticmethod
    def _output(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout

    @property
    def minor(self):
        """Such as 6.3."""
        return re.search(r"Swift version (\d+\.\d+)", self.compiler).group(1)

    @property
    def architecture(self):
        return self.triple.partition("-")[0]

    def module(self, name, suffix):
        return self.resources / "linux" / f"{name}.swiftmodule" / f"{self.triple}{suffix}"

    @functools.cached_property
    def standard(self):
        names = [*interfaces.STANDARD, "Glibc"]
        return {name: self.module(name, ".swiftinterface").read_text(encoding="utf-8") for name in names}


class SDK:
    """A platform at a version, in a folder of its own."""

    def __init__(self, toolchain, platform, version, stubs, build):
        self.toolchain, self.platform, self.stubs = toolchain, platform, stubs
        self.triple = self.triple_for(version)
        self.folder = build / f"{platform}{version}"
        self.printed = build / "printed" / re.sub(r"\W+", "-", toolchain.compiler)
        self.modules = self.folder / "modules"
        self.root = self.folder / "sdk"

    @property
    def label(self):
        return self.folder.name

    def triple_for(self, version):
        return f"{self.toolchain.architecture}-{PLATFORMS[self.platform].format(version)}"

    def defined(self, objects):
        """The C functions that objects define."""
        run = subprocess.run(
            [self.toolchain.symbols, "--defined-only", "--extern-only", "--format=just-symbols", *objects], check=True,
            capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return {line.removeprefix("_") for line in run.stdout.split("\n") if line and not line.endswith(":")}

    def prepare(self):
        """Writes the files that the steps and the compiler begin with."""
        for name in ("modules", "interfaces"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.root.mkdir(exist_ok=True)
        if self.platform in SETTINGS:
            work.write(self.root / "SDKSettings.json", json.dumps(SETTINGS[self.platform]))
        for name in ("clang", "apinotes", "shims"):
            link = self.folder.parent / "resources" / name
            link.parent.mkdir(exist_ok=True)
            if link.resolve() != (self.toolchain.resources / name).resolve():
                link.unlink(missing_ok=True)
                link.symlink_to(self.toolchain.resources / name)
        for name in HEADERS:
            self.c_module(name, self.stubs / "headers" / f"{name}.h")
        self.c_module("SQLite3", pathlib.Path("/usr/include/sqlite3.h"))

    def c_module(self, name, header):
        text = f'module {name} [system] [extern_c] {{ header "{header}" export * }}\n'
        work.write(self.folder / "headers" / name / "module.modulemap", text)

    def flags(self):
        """For every compilation of this platform."""
        return [
            "-target", self.triple, "-disable-objc-interop", "-resource-dir", self.folder.parent / "resources",
            "-sdk", self.root, "-module-cache-path", self.folder / "cache", "-I", self.modules,
            "-I", self.toolchain.resources / "shims", "-plugin-path", self.toolchain.plugins,
            "-load-plugin-executable", f"{pathlib.Path(__file__).with_name('previews.py')}#PreviewsMacros",
            *(word for name in (*HEADERS, "SQLite3") for word in ("-I", self.folder / "headers" / name)),
        ]

    def names(self):
        """The modules that this platform has."""
        return [name for name in NEEDS if self._is_here(self.stubs / "modules" / f"{name}.swiftinterface")]

    def _is_here(self, stub):
        named = re.search(r"(?m)^// platforms: (.*)$", stub.read_text(encoding="utf-8")) if stub.is_file() else None
        return named is None or self.platform in named.group(1).split()

    def interface(self, name):
        stub = self.stubs / "modules" / f"{name}.swiftinterface"
        own = stub.read_text(encoding="utf-8") if stub.is_file() else ""
        standard, compiler = self.toolchain.standard, self.toolchain.compiler
        if name in interfaces.STANDARD:
            return interfaces.standard(name, standard[name], self.triple, self.toolchain.triple)
        head = interfaces.header(name, self.triple, compiler)
        original = {new: old for old, new in interfaces.RENAMED.items()}.get(name, name)
        if original in interfaces.FOUNDATION:
            text = interfaces.printed(original, self.toolchain, self.printed)
            return head + interfaces.foundation(original, text) + interfaces.discardable(own)
        return head + own + (interfaces.posix_errors(standard["Glibc"]) if name == "Darwin" else "")

    def steps(self):
        names, made = self.names(), []
        for name in names:
            path = work.write(self.folder / "interfaces" / f"{name}.swiftinterface", self.interface(name))
            output = self.modules / f"{name}.swiftmodule"
            command = [
                self.toolchain.frontend, "-compile-module-from-interface", path, "-module-name", name, "-o", output,
                *self.flags(), "-disable-availability-checking",
                *(["-parse-stdlib"] if name in ("Swift", "_Concurrency") else []),
            ]
            made.append(work.Step(
                name=f"{self.label}/{name}", commands=[command], outputs=[output], folder=self.folder,
                files=[path, *(self.stubs / "headers" / f"{header}.h" for header in HEADERS if header == name)],
                needs=[f"{self.label}/{need}" for need in NEEDS[name] if need in names]))
        return made
