# SPDX-License-Identifier: MIT
"""Runs the scripts as a Mac would, in seconds: with its answers to `uname` and `xcrun`, and without the tools of GNU.

The programs on the path are the few that a Mac has too, and stand-ins: for a `swift` that builds nothing, and for tools
that end with an error when they are given an option of GNU. Every Mac's bash is 3.2; where CURLEW_BASH names one, it
runs the scripts, and otherwise Scripts/lib/shell.py looks for what it does not know.
"""

import os
import pathlib
import plistlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# As they are. There is no timeout, nproc, readlink, realpath, tac, md5sum, apt-get, dpkg or docc among them.
PLAIN = ["basename", "cat", "chmod", "cp", "cut", "dirname", "env", "git", "id", "ls", "mkdir", "mv", "perl", "printf",
         "python3", "rm", "sh", "sleep", "tail", "tee", "touch", "tr", "wc"]
# Those whose options differ, with what they refuse.
NARROW = {
    "date": "-d* | -I* | --*", "find": "-printf", "grep": "-*P* | --*", "head": "-n-* | --*", "mktemp": "--*",
    "sed": "-i* | -r* | --*", "sort": "-*V* | --*", "stat": "-c* | --*", "xargs": "-r | --*",
}
FAKE = {
    "uname": 'case "${1:-}" in -m) echo arm64 ;; *) echo Darwin ;; esac',
    "xcrun": """
        case "$1" in
            swift) cat "$DEVELOPER_DIR/swift" ;;
            --show-sdk-path) echo "$FAKE_SDK" ;;
            --show-sdk-version) echo 26.0 ;;
            *) exit 1 ;;
        esac""",
    "sw_vers": 'case "$1" in -productVersion) echo 26.1 ;; *) echo 25B78 ;; esac',
    "sysctl": "echo 8",
    "hostname": "echo Adas-Mac.local",
    "scutil": "echo 'Ada Lovelace’s Mac'",
    "xcodebuild": """
        case "$1" in
            -version) echo 'Xcode 26.1'; echo 'Build version 17B55' ;;
            -showsdks) echo '-sdk iphonesimulator26.1' ;;
            *) echo '** BUILD SUCCEEDED **' ;;
        esac""",
    "swift": """
        case "$*" in
            *show-bin-path*) echo "$FAKE_BIN" ;;
            build*-warnings-as-errors*)
                if [ -n "${FAKE_WARNING:-}" ]; then echo 'a.swift:1:1: error: it is old'; exit 1; fi ;;
            build*) echo "${FAKE_WARNING:-}" ;;
            --version) echo 'swift-driver version: 1.127 Apple Swift version 6.3.1 (swiftlang-6.3.1)' ;;
            *"--filter ^${FAKE_FAILURE:-none}"*)
                echo '◇ Test run started.'
                echo '✘ Test it() recorded an issue at File.swift:1:1: Expectation failed: ~/x'
                echo '↳ the name of a case: what was wrong'
                echo "$FAKE_HOME/Secret $PWD/Tests/File.swift /private/var/folders/ab/cd_e/T/x ada.lovelace@example.com"
                echo '✘ Test run with 3 tests in 1 suite failed after 0.001 seconds with 1 issue.'
                exit 1 ;;
            test*)
                echo 'answer: zstd: unchanged | Content-Encoding: zstd'
                echo '✔ Test run with 3 tests in 1 suite passed after 0.001 seconds.'
                ;;
        esac""",
    "brew": "exit 1",
}


def program(path, body):
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def make(folder):
    """The path and the rest of the environment."""
    tools, home = folder / "tools", folder / "Users/ada"
    for made in (tools, home, folder / "bin", folder / "sdk/usr/include"):
        made.mkdir(parents=True)
    (folder / "sdk/usr/include/sqlite3.h").touch()
    program(folder / "bin/Tour", "echo the tour")
    for name in PLAIN:
        # The interpreter of this program, because one of a version manager needs the other programs of that manager.
        if found := sys.executable if name == "python3" else shutil.which(name):
            (tools / name).symlink_to(found)
    # The awk of a Mac, where it can be had.
    (tools / "awk").symlink_to(shutil.which("original-awk") or shutil.which("awk"))
    (tools / "bash").symlink_to(os.environ.get("CURLEW_BASH") or shutil.which("bash"))
    for name, refused in NARROW.items():
        real = shutil.which(name)
        program(tools / name, f"""
for word in "$@"; do
    case "$word" in {refused}) echo "{name}: illegal option $word" >&2; exit 64 ;; esac
done
exec {real} "$@\"""")
    for name, body in FAKE.items():
        program(tools / name, body)
    return {
        "PATH": str(tools), "HOME": str(home), "TMPDIR": str(folder), "LANG": "en_US.UTF-8", "FAKE_HOME": str(home),
        "FAKE_SDK": str(folder / "sdk"), "FAKE_BIN": str(folder / "bin"), "CURLEW_REPORT_FOLDER": str(folder),
        "LOGNAME": "ada", "HOMEBREW_PREFIX": str(folder / "homebrew"), "PYTHONDONTWRITEBYTECODE": "1",
    }


class Checks:
    def __init__(self, environment):
        self.environment, self.wrong, self.count = environment, [], 0

    def run(self, words, status, *expected, absent=(), **variables):
        """A script's end, and what it says on the way."""
        self.count += 1
        run = subprocess.run(
            [self.environment["PATH"] + "/bash", *words], cwd=ROOT, env={**self.environment, **variables},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        self.compare(" ".join(words), run.stdout, expected, absent)
        if run.returncode != status:
            self.wrong.append(f"{' '.join(words)}: ended with {run.returncode}, not {status}:\n{run.stdout[-2000:]}")

    def compare(self, name, text, expected, absent):
        self.wrong += [f"{name}: does not say {word!r}:\n{text[-3000:]}" for word in expected if word not in text]
        self.wrong += [f"{name}: says {word!r}:\n{text[-3000:]}" for word in absent if word in text]


def check_xcode(checks, folder):
    """Chosen by the number of its version, not by its name, and by its Swift."""
    for name, version, swift in [
        ("Xcode_26.4.1", "26.4.1", "6.3"), ("Xcode_26.10", "26.10", "6.3.2"), ("Xcode_26.9", "26.9", "6.3.1"),
        ("Xcode_27", "27.0", "6.4"), ("Xcode_27.1_beta", "27.1", "6.3"), ("Xcode_16.4", "16.4", "6.1"),
    ]:
        contents = folder / f"Applications/{name}.app/Contents"
        contents.mkdir(parents=True)
        (contents.parent / "swift").write_text(f"Apple Swift version {swift} (swiftlang)\n")
        (contents / "version.plist").write_bytes(plistlib.dumps({"CFBundleShortVersionString": version}))
    choose = ["-c", "python3 Scripts/lib/newest_xcode.py"]
    checks.run(choose, 0, "Xcode_26.10.app\n", CURLEW_APPLICATIONS=str(folder / "Applications"))
    for app in (folder / "Applications").glob("Xcode_26*"):
        (app / "swift").write_text("xcrun: error\n")
    checks.run(choose, 0, "Xcode_27.app\n", CURLEW_APPLICATIONS=str(folder / "Applications"))
    checks.run(choose, 1, "has Swift 6.3", CURLEW_APPLICATIONS=str(folder))


def check(checks, folder):
    checks.run(["Scripts/setup"], 0, "brew install openssl@3", "all that a Mac needs is here", absent=["apt-get"])
    checks.run(["Scripts/setup"], 1, "xcode-select --install", FAKE_SDK="/nowhere")
    checks.run(["Scripts/setup", "--bench"], 1, "this needs Linux")
    checks.run(["Scripts/soak"], 1, "this needs Linux")
    checks.run(["Scripts/soak", "none"], 2, "10 minutes unless")
    checks.run(["Scripts/fuzz"], 1, "this needs Linux")
    checks.run(["Scripts/bench"], 1, "this needs Linux")
    checks.run(["Scripts/apple"], 0, "left out")
    checks.run(["Scripts/demo"], 0, "the tour")
    checks.run(["Scripts/pictures", "--check"], 0, "pictures: clean")
    checks.run(["Scripts/release", "0.0.0", "--unknown"], 2, "Refuses a tree with changes")
    checks.run(["Scripts/example"], 0, "TopQuestions")
    checks.run(["Scripts/test", "--unknown"], 2, "Ends with status 0 only if")
    checks.run(["Scripts/docs"], 1, "docc is part of the Swift toolchain")

    checks.run(["Scripts/test", "--apple"], 0, "0 failed", "mac-report.md")
    good = ["| macOS | 26.1 (25B78) |", "| Xcode | Xcode 26.1 Build version 17B55 |", "Apple Swift version 6.3.1",
            "| Tests of ConformanceTests | passed |", "| Tests of CurlewCurlTests | left out |",
            "then remove Content-Encoding? | unchanged \\| Content-Encoding: zstd |", "Cache-Control? | none |",
            "| Package for the simulator of iOS | passed |", "| Package for the simulator of tvOS | left out |",
            "| FilmClub for macOS | passed |", "| LegacyBridge for iOS Simulator | passed |"]
    secret = ["ada", "Ada", "Lovelace", str(ROOT), str(folder)]
    report = folder / "mac-report.md"
    checks.compare("the report", report.read_text(encoding="utf-8"), good, ["FAILED", *secret])

    checks.run(["Scripts/test", "--apple"], 1, "1 failed", FAKE_FAILURE="CurlewHTTPTests")
    checks.compare(
        "the report of a failure", report.read_text(encoding="utf-8"),
        [*good, "| Tests of CurlewHTTPTests | FAILED with status 1 |",
         "recorded an issue at File.swift:1:1: Expectation failed: ~/x\n↳ the name of a case: what",
         "~/Secret ./Tests/File.swift <temporary>/x <address>"], secret)

    # The first build on a Mac has a warning: it is reported, and the tests run all the same.
    checks.run(
        ["Scripts/test", "--apple"], 1, "1 failed", FAKE_WARNING="a.swift:1:1: warning: it is old")
    checks.compare(
        "the report of a warning", report.read_text(encoding="utf-8"),
        [good[0], "| Build, warnings are errors | FAILED with status 1 |", "| Build, with warnings | passed |",
         "a.swift:1:1: warning: it is old", "| Tests of ConformanceTests | passed |"], secret)

    # A Mac without Xcode, and one on which nothing works: it is written down all the same.
    checks.run(["Scripts/test", "--apple"], 1, "failed", "mac-report.md", FAKE_SDK="/nowhere")
    program(folder / "tools/swift", "exit 1")
    (folder / "tools/xcodebuild").unlink()
    checks.run(["Scripts/test", "--apple"], 1, "failed", "mac-report.md")
    checks.compare(
        "the report of a Mac without Swift", report.read_text(encoding="utf-8"),
        ["| Build, warnings are errors | FAILED with status 1 |", "there is no Xcode"], ["| passed |", *secret])


def main():
    with tempfile.TemporaryDirectory(prefix="curlew-mac-") as name:
        folder = pathlib.Path(name).resolve()
        checks = Checks(make(folder))
        check_xcode(checks, folder)
        check(checks, folder)
    for wrong in checks.wrong:
        print(wrong, file=sys.stderr)
    print(f"as a Mac: {checks.count} runs, " + (f"{len(checks.wrong)} wrong" if checks.wrong else "as expected"))
    sys.exit(1 if checks.wrong else 0)


main()
