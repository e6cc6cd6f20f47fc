# SPDX-License-Identifier: MIT
"""The steps that compile the targets of the packages for one platform."""

import re

import packages
import sil
import work


def order(targets, platform):
    """The targets of a platform and those that they need, by name, without what is for other platforms."""
    return {
        target.name: [name for name, only in target.needs if not only or platform in only]
        for target in targets if platform in target.minimums
    }


# A test target is compiled in parts of about so many bytes, side by side.
PART = 250_000


def parts(files):
    """The files in groups of about the same size."""
    sizes = {path: path.stat().st_size for path in files}
    groups = [[] for _ in range(1 + sum(sizes.values()) // PART)]
    for path in sorted(files, key=sizes.get, reverse=True):
        min(groups, key=lambda group: sum(map(sizes.get, group))).append(path)
    return [sorted(group) for group in groups if group]


class Builder:
    """Makes the steps of one platform."""

    def __init__(self, sdk, targets):
        self.sdk, self.toolchain = sdk, sdk.toolchain
        self.needs = order(targets, sdk.platform)
        self.targets = {target.name: target for target in targets if target.name in self.needs}
        self.output = sdk.folder / "output"
        self.output.mkdir(parents=True, exist_ok=True)
        self.forwarded = sdk.folder / "headers/forward"

    def steps(self):
        made = []
        for target in self.targets.values():
            made += [self.c(target)] if target.is_c else self.swift(target)
        return made

    def facts(self, target, results):
        """What the steps of a target have found, together."""
        return [result.facts for name, result in results.items()
                if result.facts and (name == self.name(target) or name.startswith(self.name(target) + "+"))]

    def name(self, target):
        return f"{self.sdk.label}/{target}"

    def flags(self, target):
        words = self.sdk.flags()
        # Packages with a higher minimum use the modules of the lower one, as SwiftPM's builds do.
        version = target.minimums[self.sdk.platform]
        words[words.index("-target") + 1] = self.sdk.triple_for(version)
        return words

    def c_needs(self, target):
        """All C targets beneath a target: their headers are part of what a module means to its users."""
        found, open_ends = set(), [target.name]
        while open_ends:
            for name in self.needs[open_ends.pop()]:
                if name not in found:
                    found.add(name)
                    open_ends.append(name)
        return [self.targets[name] for name in sorted(found) if self.targets[name].is_c]

    def swift(self, target):
        """One step, or several for a large target of tests, which nothing imports."""
        sources = target.swift
        maps = [self.module_map(c) for c in self.c_needs(target)]
        common = [
            self.toolchain.frontend, "-emit-sil", "-module-name", target.name, "-package-name", target.package,
            "-swift-version", "6", "-Onone", "-enable-testing", "-D", "SWIFT_PACKAGE", *self.flags(target),
            *packages.flags(target), "-I", self.output, *(word for path in maps for word in ("-I", path.parent)),
            "-Xcc", "-isystem", "-Xcc", self.forwarded,
            *([] if any(path.name == "main.swift" for path in sources) else ["-parse-as-library"]),
        ]
        if not target.is_test:
            module, text = self.output / f"{target.name}.swiftmodule", self.output / f"{target.name}.sil"
            command = [*common, "-emit-module-path", module, "-o", text, *sources]
            return [self.step(target, self.name(target.name), command, [module], [text], sources)]
        made = []
        for number, part in enumerate(parts(sources)):
            name = f"{target.name}+{number}" if number else target.name
            texts = [self.output / f"{name}.{index}.sil" for index in range(len(part))]
            command = [
                *common, *(word for path in part for word in ("-primary-file", path)),
                *(word for path in texts for word in ("-o", path)), *(path for path in sources if path not in part)]
            made.append(self.step(target, self.name(name), command, [], texts, sources))
        return made

    def step(self, target, name, command, outputs, texts, sources):
        def examine():
            facts = [sil.read(text) for text in texts]
            for text in texts:
                text.unlink()
            return {
                "functions": sorted({function for fact in facts for function in fact["functions"]}),
                "integers": [integer for fact in facts for integer in fact["integers"]]}

        return work.Step(
            name=name, commands=[command], outputs=outputs, folder=self.sdk.folder, examine=examine,
            # What was found is kept with the step, and is another when the search is.
            files=[*sources, sil.__file__, *(path for c in self.c_needs(target) for path in c.files(".h"))],
            needs=[self.name(need) for need in [*self.sdk.names(), *self.needs[target.name]]])

    def module_map(self, target):
        """As SwiftPM makes it for a target without one: all that the header of the target's name includes."""
        text = f'module {target.name} {{ umbrella header "{target.headers / target.name}.h" export * }}\n'
        return work.write(self.sdk.folder / "headers" / target.name / "module.modulemap", text)

    def c(self, target):
        """Objects of a C target, with all warnings; whatever it includes is our header of Apple's systems, or of that
        library of theirs."""
        sources = target.files(".c")
        names = {name for path in target.files(".c", ".h")
                 for name in re.findall(r"#include <([\w/.]+)>", path.read_text(encoding="utf-8"))}
        builtin = self.toolchain.resources / "clang/include"
        for name in names:
            if not (builtin / name).is_file():
                own = self.sdk.stubs / "headers" / name
                header = own if own.is_file() else self.sdk.stubs / "headers/Darwin.h"
                work.write(self.forwarded / name, f'#include "{header}"\n')
        commands, outputs = [], []
        for source in sources:
            outputs.append(self.output / f"{target.name}.{source.stem}.o")
            commands.append([
                self.toolchain.clang, "-target", self.sdk.triple_for(target.minimums[self.sdk.platform]), "-c", source,
                "-o", outputs[-1], "-Wall", "-Wextra", "-nostdlibinc", "-isystem", self.forwarded, "-I", target.headers,
            ])
        def examine():
            return {"defined": sorted(self.sdk.defined(outputs))}

        return work.Step(
            name=self.name(target.name), commands=commands, outputs=outputs, folder=self.sdk.folder, examine=examine,
            files=[*target.files(".c", ".h"), *sorted((self.sdk.stubs / "headers").glob("*.h"))])
