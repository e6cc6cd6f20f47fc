# SPDX-License-Identifier: MIT
"""Prints the newest Xcode whose Swift is the one that the package needs.

    sudo xcode-select --switch "$(Scripts/lib/newest_xcode.py)"

The minor version counts: another compiler has other warnings, and warnings are errors. Betas and candidates are left
out. Without such an Xcode, the newest one whose Swift is newer. Status 1 if there is none.
"""

import os
import pathlib
import plistlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def numbers(text):
    return tuple(map(int, re.findall(r"\d+", text)))


def version(app):
    with open(app / "Contents/version.plist", "rb") as file:
        return numbers(plistlib.load(file)["CFBundleShortVersionString"])


def swift(app):
    """The major and minor version of its compiler; nothing if it does not run."""
    run = subprocess.run(
        ["xcrun", "swift", "--version"], env={**os.environ, "DEVELOPER_DIR": str(app)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True)
    found = re.search(r"Swift version (\d+\.\d+)", run.stdout)
    return numbers(found.group(1)) if found else ()


def main():
    applications = pathlib.Path(os.environ.get("CURLEW_APPLICATIONS", "/Applications"))
    needed = numbers(re.search(r"swift-tools-version: *([\d.]+)", (ROOT / "Package.swift").read_text()).group(1))[:2]
    apps = [app for app in applications.glob("Xcode*.app") if not re.search(r"(?i)beta|candidate", app.name)]
    usable = [(swift(app) == needed, version(app), app) for app in apps if swift(app) >= needed]
    if not usable:
        print(f"xcode: none in {applications} has Swift {'.'.join(map(str, needed))}", file=sys.stderr)
        sys.exit(1)
    print(max(usable)[2])


main()
