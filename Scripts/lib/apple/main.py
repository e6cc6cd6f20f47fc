# SPDX-License-Identifier: MIT
"""Type-checks every target for Apple's platforms against stubs of their SDKs: Scripts/apple-stubs/README.md."""

import collections
import pathlib
import re
import sys
import time

import linux
import packages
import sdk
import targets
import work

ROOT = pathlib.Path(__file__).resolve().parents[3]
STUBS = ROOT / "Scripts/apple-stubs"
BUILD = ROOT / ".build/apple"
KNOWN = STUBS / "known.txt"

# The minor version of Swift whose modules the stubs fit. Another one prints other interfaces.
MADE_FOR = "6.3"

# In the order in which they need each other.
PACKAGES = [
    ".", "Examples/FilmClub/FilmCatalogue", "Examples/SampleAPI", "Examples", "Command", "Benchmarks",
    *(f"Bridges/Stubs/swift-{name}" for name in (
        "log", "metrics", "service-context", "distributed-tracing", "service-lifecycle", "http-types",
        "openapi-runtime")),
    "Bridges",
]

MESSAGE = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?P<kind>error|warning): (?P<text>.*)$", re.MULTILINE)
OTHER = re.compile(r"^(?:<unknown>:0: |clang: )?(?:fatal )?error: .*$|^.*\bCompiling failed\b.*$", re.MULTILINE)

Finding = collections.namedtuple("Finding", "platform path line text")


def all_targets():
    """Of all packages; one that two manifests name, as the catalogue's tests, is compiled once."""
    found, products = {}, {}
    for folder in PACKAGES:
        for target in packages.read(ROOT / folder, BUILD, products):
            found.setdefault(target.name, target)
    return list(found.values())


def relative(path):
    return path.removeprefix(f"{ROOT}/")


def messages(platform, name, result):
    """What the compiler said, each place once."""
    found = []
    for match in MESSAGE.finditer(result.log):
        text = f"{match['kind']}: {match['text']}"
        found.append(Finding(platform, relative(match["path"]), int(match["line"]), text))
    if result.status != 0 and not any(finding.text.startswith("error") for finding in found):
        tail = result.log.strip()[-600:] or f"status {result.status}"
        found.append(Finding(platform, name, 0, f"error: {tail}"))
    return list(dict.fromkeys(found))


def beyond(platform, builder, results):
    """What no message tells: C functions without a definition, integers that 32 bits do not hold."""
    facts = {name: builder.facts(name, results) for name in builder.targets}
    defined = {symbol for found in facts.values() for fact in found for symbol in fact.get("defined", [])}
    declared = {}
    for target in builder.targets.values():
        for path in target.files(".h") if target.is_c else []:
            for name in re.findall(r"\b(\w+)\(", path.read_text(encoding="utf-8")):
                declared[name] = relative(str(path))
    for name, fact in ((name, fact) for name, found in facts.items() for fact in found):
        for symbol in fact.get("functions", []):
            if symbol in declared and symbol not in defined:
                yield Finding(
                    platform, declared[symbol], 0,
                    f"error: {symbol} is called by {name}, and defined for other systems only: it would not link")
        # A package that names no minimum for watches is not for them.
        if not builder.targets[name].is_test and "watchos" in builder.targets[name].minimums:
            for value, place in fact.get("integers", []):
                text = f"error: {place}: {value} does not fit into an Int of 32 bits (watchOS)"
                yield Finding(platform, name, 0, text)


class Known:
    """False messages with their reasons: `platform path part — reason`, blanks in the part written as _."""

    def __init__(self):
        self.entries = {}
        for number, line in enumerate(KNOWN.read_text(encoding="utf-8").split("\n"), 1):
            fields, dash, reason = line.partition("—")
            words = fields.split()
            if line.strip() and not line.startswith("#"):
                if len(words) != 3 or not dash or not reason.strip():
                    raise SystemExit(f"{relative(str(KNOWN))}:{number}: platform path part — reason")
                self.entries[number] = (words[0], words[1], words[2].replace("_", " "))
        self.used = set()

    @staticmethod
    def applies(named, platforms):
        return named == "all" or any(platform in named.split(",") for platform in platforms)

    def has(self, finding):
        text = finding.text.replace("_", " ")
        for number, (platform, path, part) in self.entries.items():
            if self.applies(platform, [finding.platform]) and path == finding.path and part in text:
                self.used.add(number)
                return True
        return False

    def unused(self, platforms):
        return [
            (number, entry) for number, entry in self.entries.items()
            if number not in self.used and self.applies(entry[0], platforms)]


def tell(step, result):
    if result.has_run and not result.is_kept:
        print(f"{step.folder.name}/{step.name.rpartition('/')[2]}: {result.seconds:.1f} s"
              f"{'' if result.status == 0 else ', with errors'}", flush=True)


def finish(what, wrong, results, known, platforms, started):
    """Says what was found; the status of the script."""
    wrong = [finding for finding in dict.fromkeys(wrong) if not known.has(finding)]
    for finding in wrong:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        print(f"{finding.platform}: {place}: {finding.text}")
    skipped = [name for name, result in results.items() if not result.has_run]
    # What was not compiled said nothing.
    unused = known.unused(platforms) if platforms and not skipped else []
    for number, entry in unused:
        print(f"{relative(str(KNOWN))}:{number}: {entry[2]} is no longer said: remove the line")
    if skipped:
        print(f"not compiled, because what they need has failed: {', '.join(skipped)}")
    is_clean = not wrong and not unused and not skipped
    verdict = "clean" if is_clean else f"{len(wrong)} messages, {len(skipped)} targets not compiled"
    kept = sum(result.is_kept for result in results.values())
    print(f"apple: {what}: {verdict}; {len(results)} steps, {kept} of them as they were, "
          f"{time.monotonic() - started:.0f} s")
    return 0 if is_clean else 1


def check(platforms, toolchain, with_tests):
    """On the targets of Apple's platforms."""
    if toolchain.minor != MADE_FOR:
        print(f"apple: left out: the stubs are made for Swift {MADE_FOR}, this is {toolchain.compiler}")
        return 0
    everything, started = all_targets(), time.monotonic()
    if not with_tests:
        everything = [target for target in everything if "Tests" not in target.folder.relative_to(ROOT).parts]
    minimums = everything[0].minimums
    platforms = platforms or [platform for platform in sdk.PLATFORMS if platform in minimums]
    if unknown := [platform for platform in platforms if platform not in minimums or platform not in sdk.PLATFORMS]:
        raise SystemExit(f"no such platform: {', '.join(unknown)}; there are {', '.join(sdk.PLATFORMS)}")
    steps, builders = [], {}
    for platform in platforms:
        kit = sdk.SDK(toolchain, platform, minimums[platform], STUBS, BUILD)
        kit.prepare()
        builders[platform] = targets.Builder(kit, everything)
        steps += kit.steps() + builders[platform].steps()
    results, wrong = work.run(steps, toolchain.compiler, tell), []
    for platform, builder in builders.items():
        for step in steps:
            if step.folder == builder.sdk.folder and results[step.name].has_run:
                wrong += messages(platform, step.name, results[step.name])
        wrong += beyond(platform, builder, results)
    # False messages in tests are not said where there are none.
    expected = platforms if with_tests else []
    return finish(", ".join(platforms), wrong, results, Known(), expected, started)


def check_on_linux(option, toolchain):
    """On the target of Linux, beside a stub: `--quick`, `--musl` or `--android`."""
    name, started = option.removeprefix("--"), time.monotonic()
    kit = linux.Check(toolchain, all_targets(), STUBS, BUILD / name)
    results, wrong = work.run(kit.steps(), toolchain.compiler, tell), []
    for step, result in results.items():
        found = messages(name, step, result) if result.has_run else []
        wrong += [finding._replace(path=relative(kit.original(str(ROOT / finding.path)))) for finding in found]
    return finish(name, wrong, results, Known(), [], started)


def main(words):
    BUILD.mkdir(parents=True, exist_ok=True)
    toolchain = sdk.Toolchain()
    if len(words) == 1 and words[0].removeprefix("--") in linux.CHECKS:
        return check_on_linux(words[0], toolchain)
    with_tests = words[:1] != ["--without-tests"]
    return check(words if with_tests else words[1:], toolchain, with_tests)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
