# SPDX-License-Identifier: MIT
"""Reads the workflow as GitHub would, and looks for what would first be seen there: YAML that means something else,
scripts that do not exist, steps that no shell can read. Also what the package index builds, and the templates."""

import os
import re
import subprocess
import sys

import source

PATH, INDEX = ".github/workflows/ci.yml", ".spi.yml"
JOBS = {"linux": "ubuntu-", "mac": "macos-", "windows": "windows-"}


def check_step(place, step, found):
    known = {"name", "uses", "with", "run", "shell", "if", "continue-on-error"}
    if set(step) - known or ("uses" in step) == ("run" in step):
        found.append(f"{place}: a step with {', '.join(step)}")
    if uses := step.get("uses"):
        if not re.fullmatch(r"actions/[\w-]+@v\d+", uses):
            found.append(f"{place}: {uses}: only GitHub's own actions, at a major version")
        if uses.startswith("actions/checkout@") and step.get("with", {}).get("persist-credentials") is not False:
            found.append(f"{place}: the checkout keeps its credentials")
        return
    run = step.get("run", "")
    for script in re.findall(r"(?<![\w/.])(?:Scripts|\.ci)/[\w/.-]+", run):
        if not (source.ROOT / script).is_file():
            found.append(f"{place}: there is no {script}")
        elif not script.endswith(".py") and not os.access(source.ROOT / script, os.X_OK):
            found.append(f"{place}: {script} is not executable")
    if step.get("shell") != "pwsh":
        shell = subprocess.run(
            ["bash", "-n"], input=re.sub(r"\$\{\{.*?\}\}", "x", run), capture_output=True, text=True)
        if shell.returncode:
            found.append(f"{place}: {shell.stderr.strip()}")


def check(workflow):
    found, needed = [], re.search(r"swift-tools-version: *([\d.]+)", source.text("Package.swift")).group(1)
    # The word `on` is true in YAML 1.1, which the reader speaks.
    if not {"push", "pull_request", "workflow_dispatch"} <= set(workflow.get("on", workflow.get(True, {}))):
        found.append("it does not run on a push, a pull request and on request")
    if workflow.get("permissions") != {"contents": "read"}:
        found.append("permissions: only to read the content")
    if workflow["jobs"].keys() != JOBS.keys():
        found.append(f"jobs: {', '.join(workflow['jobs'])}, not {', '.join(JOBS)}")
    for name, job in workflow["jobs"].items():
        if not job["runs-on"].startswith(JOBS.get(name, "")) or job["runs-on"].endswith("latest"):
            found.append(f"{name}: runs on {job['runs-on']}; name a system and its version")
        if not isinstance(job.get("timeout-minutes"), int):
            found.append(f"{name}: has no limit of time")
        if "container" in job and not re.fullmatch(rf"swift:{re.escape(needed)}(\.\d+)?-\w+", job["container"]):
            found.append(f"{name}: {job['container']} is not Swift {needed}, which the package needs")
        if not job["steps"][0].get("uses", "").startswith("actions/checkout@"):
            found.append(f"{name}: begins without a checkout")
        for number, step in enumerate(job["steps"], 1):
            check_step(f"{name}, step {number}", step, found)
    return found


def check_index(index):
    """The index documents every product, whose targets have the products' names."""
    listed = [target for config in index["builder"]["configs"] for target in config.get("documentation_targets", [])]
    products = re.findall(r'\.library\(name: "(\w+)"', source.text("Package.swift"))
    return [] if sorted(listed) == sorted(products) else [f"{INDEX}: documents {listed}, not {products}"]


def check_templates(read):
    for path in source.files():
        if path.startswith(".github/ISSUE_TEMPLATE/"):
            parts = source.text(path).split("---\n", 2)
            if parts[0] or len(parts) < 3 or set(read(parts[1])) != {"name", "about"}:
                yield f"{path}: begins with a name and what it is about"


def main():
    try:
        import yaml
    except ImportError:
        print("workflow: left out: there is no reader of YAML (python3-yaml)")
        return
    found = [f"{PATH}: {finding}" for finding in check(yaml.safe_load(source.text(PATH)))]
    found += check_index(yaml.safe_load(source.text(INDEX)))
    found += check_templates(yaml.safe_load)
    for finding in found:
        print(finding, file=sys.stderr)
    print(f"workflow: {len(found)} violations" if found else "workflow: clean")
    sys.exit(1 if found else 0)


main()
