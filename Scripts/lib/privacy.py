# SPDX-License-Identifier: MIT
"""Whether each module has a privacy manifest for what it uses: Apple's functions that need a reason, by their category.

The names are those of Apple's page "Describing use of required reason API". A store for apps refuses an app whose code
uses one of them without a manifest that says why.
"""

import pathlib
import plistlib
import re
import sys

import source

sys.path.append(str(pathlib.Path(__file__).with_name("apple")))
import packages

FILE = "PrivacyInfo.xcprivacy"
PREFIX = "NSPrivacyAccessedAPICategory"
# A category, its names in code, and the reasons that a library may give.
CATEGORIES = {
    "FileTimestamp": (
        r"\b(?:[fl]?stat|fstatat|f?getattrlist(?:at|bulk)?)\s*\("
        r"|\b(?:NSFile|file|content)?(?:[cC]reation|[mM]odification)Date(?:Key)?\b",
        {"C617.1", "3B52.1", "0A2A.1", "DDA9.1"}),
    "DiskSpace": (
        r"\bf?statv?fs\s*\(|\bvolume(?:Available|Total)Capacity\w*|\bsystem(?:Free)?Size\b",
        {"E174.1", "85F4.1", "7D9E.1", "B728.1"}),
    "SystemBootTime": (r"\bsystemUptime\b|\bmach_absolute_time\b", {"35F9.1", "8FFB.1", "3D61.1"}),
    "UserDefaults": (r"\bUserDefaults\b", {"CA92.1", "1C8F.1", "C56D.1", "AC6B.1"}),
    "ActiveKeyboards": (r"\bactiveInputModes\b", {"3EC4.1", "54BD.1"}),
}


def used(target):
    """The categories, each with one place; what is compiled for Linux only is no part of an app."""
    found = {}
    for path in source.swift_files(f"Sources/{target}/"):
        code = source.code(path)
        if not re.search(r"(?m)\A\s*(?:(?:public )?import \w+\s+)*#if os\(Linux\)", code):
            for category, (names, _) in CATEGORIES.items():
                if match := re.search(names, code):
                    line = code.count("\n", 0, match.start()) + 1
                    found.setdefault(category, f"{path}:{line}: {match.group().rstrip('( ')}")
    return found


def declared(path, found):
    """The categories of a manifest."""
    manifest = plistlib.loads(path.read_bytes())
    if manifest.get("NSPrivacyTracking") is not False or manifest.get("NSPrivacyTrackingDomains") != []:
        found.append("it tracks")
    if manifest.get("NSPrivacyCollectedDataTypes") != []:
        found.append("it collects data")
    for entry in manifest["NSPrivacyAccessedAPITypes"]:
        category = entry["NSPrivacyAccessedAPIType"].removeprefix(PREFIX)
        reasons = entry["NSPrivacyAccessedAPITypeReasons"]
        if category not in CATEGORIES or not reasons or set(reasons) - CATEGORIES[category][1]:
            found.append(f"{category} for the reasons {reasons}")
        yield category


def main():
    described = packages.dump(source.ROOT, source.ROOT / ".build/apple")["targets"]
    with_resource = {
        target["name"] for target in described for resource in target["resources"] if resource["path"] == FILE}
    violations = 0
    for target in sorted({path.split("/")[1] for path in source.swift_files("Sources/")}):
        place, found, names = source.ROOT / "Sources" / target / FILE, [], used(target)
        there = set(declared(place, found)) if place.is_file() else set()
        found += [f"{where} needs a reason ({category})" for category, where in names.items() if category not in there]
        found += [f"nothing uses {category}" for category in sorted(there - names.keys())]
        if place.is_file() != (target in with_resource):
            found.append("the file and the resource of the manifest of the package are not both there")
        for text in found:
            print(f"Sources/{target}/{FILE}: {text}", file=sys.stderr)
        violations += len(found)
    print(f"privacy: {violations} violations" if violations else f"privacy: clean ({len(with_resource)} manifests)")
    sys.exit(1 if violations else 0)


main()
