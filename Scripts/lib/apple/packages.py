# SPDX-License-Identifier: MIT
"""What the manifests say on an Apple system: targets, their sources, flags and dependencies."""

import dataclasses
import hashlib
import json
import pathlib
import re
import subprocess

import work


@dataclasses.dataclass
class Target:
    name: str
    package: str
    folder: pathlib.Path
    is_test: bool
    is_program: bool
    settings: list
    # (name of target, the platforms or nothing for all)
    needs: list
    excluded: list
    # The minimum version by platform.
    minimums: dict

    def files(self, *suffixes):
        excluded = [self.folder / name for name in self.excluded]
        return sorted(
            path for path in self.folder.rglob("*")
            if path.suffix in suffixes and not any(part in (path, *path.parents) for part in excluded))

    @property
    def swift(self):
        return self.files(".swift")

    @property
    def is_c(self):
        return not self.swift

    @property
    def headers(self):
        return self.folder / "include"


def as_on_a_mac(manifest):
    """Its conditions are decided by the system that reads it, which here is Linux."""
    text = manifest.replace("os(macOS)", "true")
    return re.sub(r"\bos\(\w+\)", "false", text)


def dump(folder, build):
    """The manifest of a package as JSON, read once for each of its contents."""
    text = as_on_a_mac((folder / "Package.swift").read_text(encoding="utf-8"))
    name = re.search(r'\bname: "(\w+)"', text).group(1)
    copy = build / "manifests" / name
    kept = copy / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".json")
    if not kept.is_file():
        work.write(copy / "Package.swift", text)
        run = subprocess.run(
            ["swift", "package", "dump-package", "--package-path", copy], check=True, stdin=subprocess.DEVNULL,
            capture_output=True, text=True)
        work.write(kept, run.stdout)
    return json.loads(kept.read_text(encoding="utf-8"))


def read(folder, build, products):
    """The targets of a package; `products` has the targets of each product so far, and gets those of this package."""
    manifest, targets = dump(folder, build), []
    for product in manifest["products"]:
        products[product["name"]] = product["targets"]
    minimums = {platform["platformName"]: platform["version"] for platform in manifest["platforms"]}
    for target in manifest["targets"]:
        needs = []
        for dependency in target["dependencies"]:
            (kind, words), = dependency.items()
            condition = words[-1] or {}
            # No trait is on.
            if condition.get("traits"):
                continue
            platforms = condition.get("platformNames", [])
            names = products.get(words[0], [words[0]]) if kind == "product" else [words[0]]
            needs += [(name, platforms) for name in names]
        default = ("Tests" if target["type"] == "test" else "Sources") + "/" + target["name"]
        targets.append(Target(
            name=target["name"], package=manifest["name"].lower(),
            folder=(folder / target.get("path", default)).resolve(), is_test=target["type"] == "test",
            is_program=target["type"] == "executable", settings=target["settings"], needs=needs,
            excluded=[*target["exclude"], "Package.swift"], minimums=minimums))
    return targets


def flags(target):
    """Of the compiler, by the settings of the manifest; a setting that is new here must be taught to this function."""
    words = []
    for setting in target.settings:
        (kind, value), = setting["kind"].items()
        if setting["tool"] == "linker":
            continue
        if kind == "enableUpcomingFeature":
            words += ["-enable-upcoming-feature", value["_0"]]
        elif kind == "define":
            words += ["-D", value["_0"]]
        elif kind == "defaultIsolation":
            words += ["-default-isolation", "MainActor" if "MainActor" in json.dumps(value) else "nonisolated"]
        else:
            raise ValueError(f"{target.name}: the setting {kind} is not known to Scripts/lib/apple/packages.py")
    return words
