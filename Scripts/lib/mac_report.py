# SPDX-License-Identifier: MIT
"""Runs what can be run on a Mac, goes on after what fails, and writes one report for its owner to send back.

    Scripts/test --apple

The report is .build/mac-report.md: versions, steps, tests, failures; no name of a person or of the machine, and no path
above the repository. Ends with status 0 only if every step passed. Whole logs stay in .build/mac-report.
"""

import getpass
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A test of this program writes somewhere else.
FOLDER = pathlib.Path(os.environ.get("CURLEW_REPORT_FOLDER", ROOT / ".build"))
REPORT, LOGS = FOLDER / "mac-report.md", FOLDER / "mac-report"

# The options of a build whose warnings are errors, and of one that goes on with them, in a folder of its own. No
# compiler of Apple's has seen this package before: its first warning must not keep the tests away.
STRICT = sys.argv[1:]
LENIENT = ("--scratch-path", ".build/lenient")
# These run one test after the other, as in Scripts/test.
SERIAL = {"CurlewURLSessionTests", "CurlewSQLiteTests", "ConformanceTests"}
LEFT_OUT = {"CurlewCurlTests": "the engine of Linux"}

# Questions that only a Mac can answer. Tests (AppleQuestionsTests) print an answer with the name of its question.
QUESTIONS = {
    "coalescing": "Does a pinned host use a connection over HTTP/2 that another host has opened?",
    "no-cache": "Does a request that bypasses the system's cache get the field Cache-Control?",
    "zstd": "Does the system decode zstd, and does it then remove Content-Encoding?",
}

# Lines of a log that say what happened, and how many of them are kept.
TELLING = re.compile(
    r"^(?:recorded|answer|left out|setup|\s+missing): |(?:^| )(?:error|warning): |\*\* [A-Z ]+ \*\*"
    r"|Fatal error|terminating due"
    # Not by the sign at the beginning of the line: on a Mac it may be one of Apple's own.
    r"|^\W+ ?(?:Test|Suite) .* (?:recorded an issue|failed after)|Test run with ")
TELLING_LINES, LAST_LINES, WIDTH = 400, 15, 500
# Words that are names of people and much else besides: replacing them would make a report unreadable.
COMMON = {"admin", "build", "ci", "localhost", "root", "runner", "swift", "test", "user"}


def output(*words, folder=ROOT):
    """What a program prints, in short; an empty text if there is no such program or it fails."""
    try:
        run = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


class Redaction:
    """Takes out what says whose machine it is."""

    def __init__(self):
        self.replacements = [
            (re.escape(place), word)
            for path, word in [(ROOT, "."), (pathlib.Path.home(), "~"), (os.environ.get("TMPDIR"), "<temporary>")]
            if path and len(str(path)) > 1
            for place in sorted({str(path).rstrip("/"), os.path.realpath(path)}, key=len, reverse=True)
        ]
        # The folders of one user's temporary files, and homes of others.
        self.replacements += [
            (r"(?:/private)?/var/folders/[\w+-]+/[\w+-]+(?:/[A-Z])?", "<temporary>"),
            (r"/(?:Users|home)/[^/\s:'\"]+", "~"),
            (r"[\w.+-]+@[\w-]+\.[\w.-]+", "<address>"), (r"\b[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}\b", "<id>"),
        ]
        names = [getpass.getuser(), output("id", "-un"), output("id", "-F")]
        machine = [output("hostname"), output("hostname", "-s"), output("scutil", "--get", "ComputerName")]
        for name, word in [(name, "<user>") for name in names] + [(name, "<machine>") for name in machine]:
            if len(name) > 2 and name.lower() not in COMMON:
                self.replacements.append((rf"(?<!\w){re.escape(name)}(?!\w)", word))

    def __call__(self, text):
        for pattern, word in self.replacements:
            text = re.sub(pattern, word, text)
        return text


def tell(lines):
    """The telling lines; what failed has its words, such as the name of a case, on the lines behind."""
    found, following = [], 0
    for line in lines:
        if TELLING.search(line):
            found.append(line)
            following = 3 if "recorded an issue" in line else 0
        elif following and line:
            found.append(line)
            following -= 1
    return found


class Report:
    def __init__(self, facts):
        self.facts, self.redacted, self.steps, self.details, self.has_failed = facts, Redaction(), [], [], False
        self.answers = {}
        shutil.rmtree(LOGS, ignore_errors=True)
        LOGS.mkdir(parents=True)

    def leave_out(self, title, reason):
        print(f"==> {title}: left out: {reason}", flush=True)
        self.steps.append((title, "left out", "", reason))
        self.write()

    def run(self, title, *words, minutes=30, folder=ROOT, counts_tests=False):
        """One step, with its log. True if it passed."""
        print(f"==> {title}", flush=True)
        started = time.monotonic()
        log = LOGS / (re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-").lower() + ".log")
        with open(log, "wb") as file:
            how = self.wait(words, file, folder, minutes)
        seconds = f"{time.monotonic() - started:.0f}"
        lines = [line.rstrip() for line in log.read_text(encoding="utf-8", errors="replace").split("\n")]
        summary = next((line for line in reversed(lines) if "Test run with " in line), "")
        summary = summary[summary.find("Test run with "):] if summary else ""
        if counts_tests and how == "passed" and not re.match(r"Test run with [1-9]\d* tests? .*passed", summary):
            how = "FAILED: no test was counted"
        self.answers.update(re.findall(r"(?m)^answer: ([\w-]+): (.*)$", "\n".join(lines)))
        self.has_failed |= how != "passed"
        self.steps.append((title, how, seconds, summary))
        telling = tell(lines)
        shown = telling[:TELLING_LINES]
        if how != "passed":
            shown += ["..."] + [line for line in lines if line][-LAST_LINES:]
        if len(telling) > TELLING_LINES:
            shown.append(f"... {len(telling) - TELLING_LINES} more such lines")
        if how != "passed" or len(shown) > (1 if summary else 0):
            # Cut last: half of a name would not be found.
            self.details.append((title, [self.redacted(line)[:WIDTH] for line in shown]))
        print(f"==> {title}: {how} ({seconds} s)", flush=True)
        # Written after each step: an interrupted run has a report too.
        self.write()
        return how == "passed"

    @staticmethod
    def wait(words, file, folder, minutes):
        """The program and what it started end with the step."""
        try:
            process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                start_new_session=True)
        except OSError as error:
            return f"FAILED: {words[0]}: {error.strerror}"
        try:
            status = process.wait(timeout=minutes * 60)
        except subprocess.TimeoutExpired:
            return f"FAILED: not done after {minutes} minutes"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass
            process.wait()
        return "passed" if status == 0 else f"FAILED with status {status}"

    def write(self):
        def cell(text):
            return text.replace("|", "\\|")

        lines = ["# Curlew on a Mac", "", "Made by `Scripts/test --apple`.", "", "| | |", "|---|---|"]
        lines += [f"| {name} | {cell(text)} |" for name, text in self.facts]
        lines += ["", "## Steps", "", "| step | result | seconds | |", "|---|---|---:|---|"]
        lines += [f"| {cell(title)} | {cell(how)} | {seconds} | {cell(note)} |"
                  for title, how, seconds, note in self.steps]
        lines += ["", "## Questions", "", "| question | answer |", "|---|---|"]
        lines += [f"| {text} | {cell(self.answers.get(name, 'none'))} |" for name, text in QUESTIONS.items()]
        for title, text in self.details:
            # Longer than any fence in what is quoted.
            lines += ["", f"## {title}", "", "~~~~~~~~text", *text, "~~~~~~~~"]
        REPORT.write_text(self.redacted("\n".join(lines)) + "\n", encoding="utf-8")


def facts():
    changes = len(output("git", "status", "--porcelain").splitlines())
    return [
        ("commit", f"{output('git', 'rev-parse', '--short=12', 'HEAD') or 'unknown'}, {changes} files changed"),
        ("macOS", f"{output('sw_vers', '-productVersion')} ({output('sw_vers', '-buildVersion')})"),
        ("processor", f"{output('uname', '-m')}, {output('sysctl', '-n', 'hw.ncpu')} cores"),
        ("Xcode", " ".join(output("xcodebuild", "-version").split()) or "none, or its command line tools only"),
        ("SDK of macOS", output("xcrun", "--show-sdk-version") or "unknown"),
        ("Swift", (output("swift", "--version").splitlines() or ["none"])[0]),
        ("Python", ".".join(map(str, sys.version_info[:3]))),
    ]


def test_targets():
    """The folders of tests that a Mac builds."""
    for folder in sorted((ROOT / "Tests").glob("*Tests")):
        if any("@Test" in path.read_text(encoding="utf-8") for path in folder.rglob("*.swift")):
            yield folder.name


def package(report):
    report.run("Setup", "Scripts/setup", minutes=5)
    options = STRICT
    if not report.run("Build, warnings are errors", "swift", "build", "--build-tests", *options, minutes=60):
        options = LENIENT
        if not report.run("Build, with warnings", "swift", "build", "--build-tests", *options, minutes=60):
            report.leave_out("Tests", "the package does not build")
            return
    for target in test_targets():
        if target in LEFT_OUT:
            report.leave_out(f"Tests of {target}", LEFT_OUT[target])
            continue
        order = "--no-parallel" if target in SERIAL else "--parallel"
        report.run(
            f"Tests of {target}", "swift", "test", "--disable-xctest", "--skip-build", order, *options, "--filter",
            f"^{target}\\.", minutes=20, counts_tests=True)


def nested(report):
    # One folder for all, so that Curlew is built once; the tests of each run before the next one is built.
    scratch = ("--scratch-path", ".build/nested")
    for title, folder in [
        ("sample service", "Examples/SampleAPI"), ("examples", "Examples"), ("command", "Command"),
        ("bridges", "Bridges"),
    ]:
        package = ("--package-path", folder, *scratch)
        if report.run(f"Build of the {title}", "swift", "build", "--build-tests", *package, minutes=60):
            report.run(
                f"Tests of the {title}", "swift", "test", "--disable-xctest", "--skip-build", *package, minutes=20,
                counts_tests=True)
    # As it was just built: `Scripts/demo` takes warnings for errors.
    report.run(
        "The tour", "swift", "run", "--skip-build", "--package-path", "Examples", *scratch, "Tour", minutes=10)
    report.run("Benchmarks build", "swift", "build", "--package-path", "Benchmarks", *scratch, minutes=60)


def simulators(report):
    """With Xcode only: its command line tools build for macOS alone."""
    known = output("xcodebuild", "-showsdks")
    for name, sdk, action in [
        ("iOS", "iphonesimulator", "build-for-testing"), ("tvOS", "appletvsimulator", "build"),
        ("watchOS", "watchsimulator", "build"), ("visionOS", "xrsimulator", "build"),
    ]:
        title = f"Package for the simulator of {name}"
        if sdk not in known:
            report.leave_out(title, "there is no Xcode with this SDK")
            continue
        words = ["-destination", f"generic/platform={name} Simulator", "CODE_SIGNING_ALLOWED=NO"]
        report.run(
            title, "xcodebuild", action, "-scheme", "Curlew-Package", "-derivedDataPath", ".build/xcode", *words,
            minutes=60)


def apps(report):
    """As they are opened in Xcode, with the services inside them."""
    project = ROOT / "Examples/Xcode/Curlew Examples.xcodeproj"
    for scheme in sorted(path.stem for path in project.glob("xcshareddata/xcschemes/*.xcscheme")):
        for place in ["macOS", "iOS Simulator"] if scheme != "Tests" else []:
            report.run(
                f"{scheme} for {place}", "xcodebuild", "build", "-project", str(project), "-scheme", scheme,
                "-derivedDataPath", ".build/xcode-examples", "-destination", f"generic/platform={place}",
                "CODE_SIGNING_ALLOWED=NO", minutes=60)


def main():
    if output("uname", "-s") != "Darwin":
        print("test: --apple needs a Mac; on Linux `Scripts/apple` type-checks for one", file=sys.stderr)
        sys.exit(1)
    report = Report(facts())
    for part in (package, nested, simulators, apps):
        part(report)
    failed = [title for title, how, _, _ in report.steps if how.startswith("FAILED")]
    print(f"\n{len(report.steps)} steps, {len(failed)} failed" + "".join(f"\n  {title}" for title in failed))
    print(f"The report to send back: {os.path.relpath(REPORT, ROOT)} (check it first for names)")
    sys.exit(1 if report.has_failed else 0)


main()
