# SPDX-License-Identifier: MIT
"""Compiles the Darwin branch of CurlewURLSession with the model of Darwin's URLSession in Tests/DarwinModel, links it
with the modules of the last build, and runs the tests of both.

    darwin_model.py BUILD-FOLDER [--check | arguments for the tests, such as --filter NAME]

The folder is that of `swift build --build-tests`, whose commands are taken over: what is compiled here differs in the
condition `canImport(Darwin)` only, which a folder of two empty modules makes true. `--check` stops after the types.
"""

import json
import pathlib
import re
import subprocess
import sys

MODEL = pathlib.Path("Tests/DarwinModel")
TESTS = ["CurlewURLSessionTests", *(f"ConformanceTests/{name}.swift" for name in (
    "IsolatedRun", "PreludeTests", "URLSessionConformanceTests"))]
WITHOUT_VALUE = {"-parseable-output", "-emit-objc-header", "-warnings-as-errors", "-incremental",
                 "-serialize-diagnostics"}
WITH_VALUE = {"-emit-module-path", "-output-file-map", "-index-store-path", "-emit-objc-header-path", "-module-name"}


def command(plan, description):
    """The arguments of one command of the build, without those that name its results."""
    match = re.search(r'description: "%s"\n\s+args: (\[.*\])' % description, plan)
    if not match:
        sys.exit(f"the build has no step {description}: run swift build --build-tests first")
    arguments, result = iter(json.loads(match.group(1))), []
    for argument in arguments:
        if argument in WITH_VALUE:
            next(arguments)
        elif argument not in WITHOUT_VALUE and not argument.endswith("/sources"):
            result.append(argument)
    return result


def compile_module(name, plan, sources, folder, check):
    """Compiles a module, incrementally. Returns its object files."""
    objects = {source: folder / f"{name}.build" / (str(source).replace("/", "-") + ".o") for source in sources}
    file_map = {str(source): {"object": str(result), "swift-dependencies": f"{result}.swiftdeps"}
                for source, result in objects.items()}
    file_map[""] = {"swift-dependencies": str(folder / f"{name}.build/module.swiftdeps")}
    (folder / f"{name}.build").mkdir(parents=True, exist_ok=True)
    map_path = folder / f"{name}.build/output-file-map.json"
    map_path.write_text(json.dumps(file_map))
    arguments = command(plan, r"Compiling Swift Module 'ConformanceTests' \(\d+ sources\)")
    found = [flag for module in ("Darwin", "Security") for flag in ("-I", str(MODEL / "Modules" / module))]
    arguments[1:1] = ["-module-name", name, "-I", str(folder), *found]
    if check:
        arguments = [a for a in arguments if a not in ("-c", "-emit-module", "-emit-dependencies")] + ["-typecheck"]
    else:
        arguments += ["-incremental", "-output-file-map", str(map_path),
                      "-emit-module-path", str(folder / f"{name}.swiftmodule")]
    run([*arguments, *map(str, sources)])
    return [str(result) for result in objects.values()]


def run(arguments):
    status = subprocess.run(arguments, check=False).returncode
    if status != 0:
        sys.exit(status)


def swift_files(*folders):
    """The sources in folders; a file is one itself."""
    found = [path for folder in map(pathlib.Path, folders) for path in folder.rglob("*.swift")]
    return sorted(found + [pathlib.Path(name) for name in folders if str(name).endswith(".swift")])


def main():
    build, *rest = sys.argv[1:]
    check = rest[:1] == ["--check"]
    plan = pathlib.Path(build, "debug.yaml").read_text()
    folder = pathlib.Path(build).absolute() / "darwin-model"
    sources = swift_files("Sources/CurlewURLSession", MODEL / "Model")
    model = compile_module("CurlewURLSession", plan, sources, folder, check)
    if check and not (folder / "CurlewURLSession.swiftmodule").exists():
        return
    sources = swift_files(*(f"Tests/{name}" for name in TESTS), MODEL / "Tests")
    tests = compile_module("DarwinModelTests", plan, sources, folder, check)
    if check:
        return
    program = folder / "DarwinModelTests.xctest"
    link = command(plan, r"Linking [^\"]*/CurlewPackageTests.xctest")
    listed = next(argument for argument in link if argument.startswith("@"))
    replaced = re.compile(r"/(CurlewURLSession|Curlew(Package|PackageDiscovered)?Tests|\w*Tests|\w+Probe)\.build/")
    kept = [line for line in pathlib.Path(listed[1:]).read_text().split("\n") if line and not replaced.search(line)]
    (folder / "objects").write_text("\n".join(kept + model + tests))
    link[link.index(listed)] = f"@{folder / 'objects'}"
    link[link.index("-o") + 1] = str(program)
    run(link)
    sys.exit(subprocess.run([str(program), "--testing-library", "swift-testing", *rest], check=False).returncode)


main()
