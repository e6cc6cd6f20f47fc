# SPDX-License-Identifier: MIT
"""Reads the Xcode project of the examples, and compares it with the manifests: what it names exists, and its targets,
systems and products are theirs. Xcode itself has not opened it here."""

import pathlib
import re
import sys
import xml.etree.ElementTree

import source

sys.path.append(str(pathlib.Path(__file__).with_name("apple")))
import packages

EXAMPLES = source.ROOT / "Examples"
PROJECT = EXAMPLES / "Xcode/Curlew Examples.xcodeproj"
FOLDER = PROJECT.parent

# The members that name other objects, and of which kind.
MEMBERS = {
    "PBXProject": {
        "mainGroup": "PBXGroup", "productRefGroup": "PBXGroup", "targets": "PBXNativeTarget",
        "packageReferences": "XCLocalSwiftPackageReference", "buildConfigurationList": "XCConfigurationList",
    },
    "PBXNativeTarget": {
        "buildConfigurationList": "XCConfigurationList", "buildPhases": "PBX(?:Sources|Frameworks|Resources)BuildPhase",
        "fileSystemSynchronizedGroups": "PBXFileSystemSynchronizedRootGroup", "productReference": "PBXFileReference",
        "packageProductDependencies": "XCSwiftPackageProductDependency", "dependencies": "PBXTargetDependency",
    },
    "PBXTargetDependency": {"target": "PBXNativeTarget", "targetProxy": "PBXContainerItemProxy"},
    "PBXContainerItemProxy": {"containerPortal": "PBXProject", "remoteGlobalIDString": "PBXNativeTarget"},
    "PBXGroup": {"children": "PBXGroup|PBXFileReference|PBXFileSystemSynchronizedRootGroup"},
    "PBXFrameworksBuildPhase": {"files": "PBXBuildFile"}, "PBXResourcesBuildPhase": {"files": "PBXBuildFile"},
    "PBXSourcesBuildPhase": {"files": "PBXBuildFile"},
    "PBXBuildFile": {"productRef": "XCSwiftPackageProductDependency"},
    "XCConfigurationList": {"buildConfigurations": "XCBuildConfiguration"},
    "PBXFileReference": {}, "PBXFileSystemSynchronizedRootGroup": {}, "XCBuildConfiguration": {},
    "XCLocalSwiftPackageReference": {}, "XCSwiftPackageProductDependency": {},
}
# Of the manifest, and of a build setting.
SYSTEMS = {
    "ios": ("IPHONEOS_DEPLOYMENT_TARGET", "iphoneos iphonesimulator"),
    "macos": ("MACOSX_DEPLOYMENT_TARGET", "macosx"), "visionos": ("XROS_DEPLOYMENT_TARGET", "xros xrsimulator"),
}


class Check:
    def __init__(self, project):
        self.objects, self.root, self.found = project["objects"], project["rootObject"], []
        self.folders = {}
        if project["objectVersion"] != "77":
            self.found.append(f"objectVersion {project['objectVersion']}: synchronised folders need 77")
        self.check_references()
        if not self.found:
            self.check_paths(self.objects[self.root]["mainGroup"], FOLDER)

    def names(self, key, member):
        value = self.objects[key].get(member, [])
        return value if isinstance(value, list) else [value]

    def check_references(self):
        reached, open_ends = set(), [(self.root, "PBXProject")]
        while open_ends:
            key, kind = open_ends.pop()
            found = self.objects.get(key)
            if not found or not re.fullmatch(kind, found["isa"]):
                self.found.append(f"{key} is {found['isa'] if found else 'missing'}, not a {kind}")
            elif key not in reached:
                reached.add(key)
                for member, other in MEMBERS[found["isa"]].items():
                    open_ends += [(name, other) for name in self.names(key, member)]
        self.found += [f"{key}: nothing needs this {self.objects[key]['isa']}" for key in self.objects.keys() - reached]

    def check_paths(self, key, folder):
        one = self.objects[key]
        if one.get("sourceTree") == "BUILT_PRODUCTS_DIR":
            return
        place = (folder / one.get("path", "")).resolve()
        self.folders[key] = place
        if not place.exists():
            self.found.append(f"there is no {place.relative_to(source.ROOT)}")
        for child in self.names(key, "children"):
            self.check_paths(child, place)

    def settings(self, key):
        for name in self.names(self.objects[key]["buildConfigurationList"], "buildConfigurations"):
            yield self.objects[name]["buildSettings"]

    def products(self, target):
        return {self.objects[name]["productName"] for name in self.names(target, "packageProductDependencies")}

    def linked(self, target):
        phases = [self.objects[name] for name in self.names(target, "buildPhases")]
        files = [name for phase in phases for name in phase.get("files", [])]
        return {self.objects[self.objects[name]["productRef"]]["productName"] for name in files}

    def compare(self, place, here, there, where="the manifest"):
        if here != there:
            self.found.append(f"{place}: {sorted(here)}, but {sorted(there)} in {where}")


def manifest(folder):
    return packages.dump(folder, source.ROOT / ".build/apple")


def check_systems(check, examples):
    named = {one["platformName"]: one["version"] for one in examples["platforms"]}
    for settings in check.settings(check.root):
        check.compare("systems", {one for system in SYSTEMS for one in SYSTEMS[system][1].split() if system in named},
                      set(settings["SUPPORTED_PLATFORMS"].split()), "the project")
        for system, version in named.items():
            if settings.get(SYSTEMS[system][0]) != version:
                check.found.append(f"{SYSTEMS[system][0]} is not {version}, as in the manifest")
        if settings["SWIFT_VERSION"].removesuffix(".0") not in examples["swiftLanguageVersions"]:
            check.found.append("SWIFT_VERSION is not that of the manifest")
        if not (FOLDER / settings["INFOPLIST_FILE"]).is_file():
            check.found.append(f"there is no {settings['INFOPLIST_FILE']}")


def check_targets(check, examples, offered):
    programs = {one["name"]: one for one in examples["targets"] if one["type"] == "executable"}
    # It has no screen.
    del programs["Tour"]
    tested = {f"{name}Tests" for name in programs} & {one["name"] for one in examples["targets"]}
    targets = {check.objects[key]["name"]: key for key in check.names(check.root, "targets")}
    check.compare("targets", targets.keys(), programs.keys() | tested)
    for name in tested & targets.keys():
        check_tests(check, targets[name], name.removesuffix("Tests"), targets)
    for name in programs.keys() & targets.keys():
        key = targets[name]
        folders = {check.folders.get(group) for group in check.names(key, "fileSystemSynchronizedGroups")}
        check.compare(f"{name}: folders", {f"{folder}" for folder in folders},
                      {f"{EXAMPLES / name / part}" for part in ("App", "Model")}, "Examples")
        needed = {one["product"][0] for one in programs[name]["dependencies"] if "product" in one}
        check.compare(f"{name}: products", check.products(key), needed)
        check.compare(f"{name}: linked products", check.linked(key), needed)
        check.compare(f"{name}: products of no package", needed - offered, set())
        if len({settings["PRODUCT_BUNDLE_IDENTIFIER"] for settings in check.settings(key)}) != 1:
            check.found.append(f"{name}: has no identifier, or two")
    return targets


def check_tests(check, key, app, targets):
    """The tests of an app run inside it, with the packages that it links."""
    folders = {f"{check.folders.get(group)}" for group in check.names(key, "fileSystemSynchronizedGroups")}
    check.compare(f"{app}: folders of tests", folders, {f"{EXAMPLES / app / 'Tests'}"}, "Examples")
    dependencies = [check.objects[name] for name in check.names(key, "dependencies")]
    hosts = {one["target"] for one in dependencies}
    hosts |= {check.objects[one["targetProxy"]]["remoteGlobalIDString"] for one in dependencies}
    hosts.add(check.objects[check.root]["attributes"]["TargetAttributes"].get(key, {}).get("TestTargetID", "none"))
    check.compare(f"{app}: targets that its tests run in", hosts, {targets.get(app, "none")}, "the project")
    for settings in check.settings(key):
        if f"/{app}.app/" not in settings["TEST_HOST"] or not settings["TEST_HOST"].endswith(f"/{app}"):
            check.found.append(f"{app}: TEST_HOST of its tests is another app")


def check_schemes(check, targets, manifests):
    tests, schemes = {}, set()
    for path in sorted(PROJECT.glob("xcshareddata/xcschemes/*.xcscheme")):
        scheme = xml.etree.ElementTree.parse(path).getroot()
        for one in scheme.iter("BuildableReference"):
            name, container = one.get("BlueprintName"), one.get("ReferencedContainer").removeprefix("container:")
            key = targets.get(name, "") if container == PROJECT.name else name
            if one.get("BlueprintIdentifier") != key or (
                    container == PROJECT.name and path.stem not in (name, "Tests")):
                check.found.append(f"the scheme {path.stem} names {name} by another identifier")
        for one in scheme.iterfind("TestAction/Testables/TestableReference/BuildableReference"):
            folder = (FOLDER / one.get("ReferencedContainer").removeprefix("container:")).resolve()
            tests.setdefault(folder, set()).add(one.get("BlueprintName"))
        schemes.add(path.stem)
    hosted = {name for name in targets if name.endswith("Tests")}
    check.compare("schemes", schemes, {"Tests", *targets} - hosted, "the project")
    check.compare("tests of the apps", tests.get(PROJECT, set()), hosted, "the project")
    for folder, described in manifests.items():
        there = {one["name"] for one in described["targets"] if one["type"] == "test"}
        # A test target without a test is there for what it compiles.
        check.compare(f"tests of {described['name']}", tests.get(folder, set()), there)


def main():
    try:
        import openstep_plist
    except ImportError:
        print("xcode: left out: there is no reader of property lists (pip install openstep-plist)")
        return
    check = Check(openstep_plist.loads((PROJECT / "project.pbxproj").read_text(encoding="utf-8")))
    references = [check.objects[key]["relativePath"] for key in check.names(check.root, "packageReferences")]
    missing = [path for path in references if not (FOLDER / path / "Package.swift").is_file()]
    check.found += [f"there is no package {path}" for path in missing]
    # What follows trusts the names.
    if not check.found:
        manifests = {(FOLDER / path).resolve(): manifest(FOLDER / path) for path in references}
        examples = manifest(EXAMPLES)
        offered = {one["name"] for described in manifests.values() for one in described["products"]}
        check_systems(check, examples)
        check_schemes(check, check_targets(check, examples, offered), manifests)
    for finding in check.found:
        print(f"{PROJECT.relative_to(source.ROOT)}: {finding}", file=sys.stderr)
    print(f"xcode: {len(check.found)} violations" if check.found else f"xcode: clean ({len(check.objects)} objects)")
    sys.exit(1 if check.found else 0)


main()
