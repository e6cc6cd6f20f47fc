# SPDX-License-Identifier: MIT
"""Checks on the target of Linux, with one stub module each: regions for Darwin in seconds, those for musl, Android.

They see neither availability nor what differs in the systems' own modules. Any toolchain can do them.
"""

import re

import interfaces
import packages
import work

# What has regions for Darwin that need no framework, and what has regions for musl.
QUICK = [
    "CurlewFoundation", "CurlewHTTP", "CurlewJSON", "CurlewCore", "CurlewAuthentication", "CurlewCaching",
    "CurlewCookies", "CurlewObservability", "CurlewRecording", "CurlewResilience", "CurlewStreams", "CurlewTracing",
    "CurlewTransfers",
]
# The stub, the libraries, and the conditions that are false there.
CHECKS = {
    "quick": ("Darwin", QUICK, r"canImport\(Glibc\)"),
    "musl": ("Musl", [*QUICK, "CurlewCurl", "CurlewSQLite", "CurlewTesting"], r"canImport\(Glibc\)"),
    "android": (
        "Android", [*QUICK, "CurlewURLSession", "CurlewSQLite", "CurlewUI", "Curlew", "CurlewTesting"],
        r"canImport\((?:Glibc|Musl)\)|\bos\(Linux\)"),
}


class Check:
    """The steps that compile some libraries beside one stub module."""

    def __init__(self, toolchain, targets, stubs, folder):
        self.toolchain, self.stubs, self.folder = toolchain, stubs, folder
        self.targets = {target.name: target for target in targets}
        self.stub, self.names, self.absent = CHECKS[folder.name]
        folder.mkdir(parents=True, exist_ok=True)

    def sources(self, target):
        """A copy of the library's own with the conditions of another system."""
        return [
            work.write(
                self.folder / "sources" / target.name / path.relative_to(target.folder),
                re.sub(self.absent, "false", path.read_text(encoding="utf-8")))
            for path in target.swift]

    def maps(self):
        """Modules of C: those of the package, and the C half of `os`."""
        texts = {
            name: f'umbrella header "{target.headers / name}.h"'
            for name, target in self.targets.items() if target.is_c}
        if self.stub == "Darwin":
            texts["os"] = f'header "{self.stubs / "headers/os.h"}"'
        folder = self.folder / "maps"
        return [
            work.write(folder / name / "module.modulemap", f"module {name} {{ {text} export * }}\n").parent
            for name, text in texts.items()]

    def steps(self):
        frontend, module = self.toolchain.frontend, self.folder / f"{self.stub}.swiftmodule"
        stub = self.stubs / "linux" / f"{self.stub}.swiftinterface"
        head = interfaces.header(self.stub, self.toolchain.triple, self.toolchain.compiler)
        source = work.write(self.folder / "interfaces" / stub.name, head + stub.read_text(encoding="utf-8"))
        common = ["-target", self.toolchain.triple, "-module-cache-path", self.folder / "cache",
                  "-plugin-path", self.toolchain.plugins]
        made = [work.Step(
            name=self.stub, folder=self.folder, files=[source], outputs=[module],
            commands=[[frontend, "-compile-module-from-interface", source, "-o", module, "-module-name", self.stub,
                       *common]])]
        maps = [word for path in self.maps() for word in ("-I", path)]
        for name in self.names:
            target, sources = self.targets[name], self.sources(self.targets[name])
            module = self.folder / f"{name}.swiftmodule"
            settings = packages.flags(target)
            # Our stub is not the module that declares what it exports.
            index = settings.index("MemberImportVisibility")
            settings = settings[:index - 1] + settings[index + 1:]
            # Checks of the data flow belong to the regions of Darwin: the others have them in every build.
            action = ["-emit-sil", "-o", "/dev/null"] if self.stub == "Darwin" else ["-emit-module"]
            headers = [path for other in self.targets.values() if other.is_c for path in other.files(".h")]
            made.append(work.Step(
                name=name, folder=self.folder, files=[*sources, *headers], outputs=[module],
                needs=[self.stub, *(need for need, only in target.needs if need in self.names)],
                commands=[[
                    frontend, *action, "-emit-module-path", module, "-module-name", name, "-package-name",
                    target.package, "-swift-version", "6", "-enable-testing", "-parse-as-library", *settings, *common,
                    "-I", self.folder, *maps, *sources]]))
        return made

    def original(self, path):
        """Of a copy, the file that it is one of."""
        return re.sub(rf"^{re.escape(str(self.folder / 'sources'))}/(\w+)",
                      lambda name: str(self.targets[name.group(1)].folder), path)
