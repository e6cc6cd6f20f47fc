# SPDX-License-Identifier: MIT
"""Counts the instructions and system calls of the package's main paths, and compares them with a table.

    instructions.py PROGRAM             fails when a path has grown by more than 3 %
    instructions.py PROGRAM --update    writes today's figures into the table

Callgrind counts the client's instructions in user space and strace its system calls. The cost of a call is the
difference between N and 3 N calls, so that starting and connecting do not count. The figures depend on the versions of
Swift and of libcurl, not on the load of the machine; the table has one set for each pair of versions.

`swift` is what the package's own code, Swift's libraries and what these call in the C library need; this part repeats,
and is held to the table. `other` is libcurl with what it calls: that depends on how many bytes a turn of the event loop
finds, so it is shown and held only to twice as much. `calls` are system calls, held to 10 % and a quarter of a call
more; where several messages may arrive in one turn, to 50 %.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

TABLE = "Benchmarks/Instructions.json"
LIMIT = 1.03
# The number of calls of each path: as many as take callgrind about two seconds.
PATHS = {
    "get": 300, "get16": 480, "metrics": 300, "recorder": 300, "hit": 800, "body": 24, "decode": 40, "socket": 300,
}
BATCHED = {"get16", "body", "socket"}
SWIFT_LIBRARIES = re.compile(r"lib(swift|Foundation|_Foundation|dispatch|BlocksRuntime)")


def versions():
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    curl = subprocess.run(["curl-config", "--version"], capture_output=True, text=True, check=True).stdout
    return f"Swift {re.search(r'Swift version ([0-9.]+)', swift)[1]}, {curl.strip()}"


def costs(path, program):
    """The instructions of one run in a callgrind file: (those of Swift, those of everything else).

    The file has a block of lines for each function: its library, its own costs, and the inclusive costs of its calls.
    """
    names, own, inclusive = {}, defaultdict(int), defaultdict(int)

    def name(text):
        number, _, rest = text.partition(" ")
        if rest:
            names[number] = rest
        return names[number]

    library = called = None
    is_call = False
    with open(path) as file:
        for line in file:
            key, mark, value = line.rstrip("\n").partition("=")
            if mark and key in ("ob", "cob", "calls"):
                if key == "ob":
                    library = called = name(value)
                elif key == "cob":
                    called = name(value)
                else:
                    is_call = True
            elif line[0] in "0123456789+-*":
                count = int(line.split()[1]) if len(line.split()) > 1 else 0
                if is_call:
                    inclusive[library, called] += count
                    called, is_call = library, False
                else:
                    own[library] += count

    def is_swift(library):
        return library == program or SWIFT_LIBRARIES.match(os.path.basename(library))

    def is_c_library(library):
        return re.match(r"(libc|libm|ld-linux)[-.]", os.path.basename(library))

    swift = sum(count for library, count in own.items() if is_swift(library))
    swift += sum(count for (a, b), count in inclusive.items() if is_swift(a) and is_c_library(b))
    return swift, sum(own.values()) - swift


class Subject:
    def __init__(self, program, folder):
        self.folder = folder
        # Without debug information, which Valgrind cannot read.
        self.program = os.path.join(folder, "subject")
        subprocess.run(["strip", "-g", "-o", self.program, program], check=True)
        self.server = subprocess.Popen(
            [self.program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = self.server.stdout.readline().strip()

    def stop(self):
        self.server.stdin.close()
        self.server.wait(timeout=10)

    def run(self, tool, path, calls):
        command = tool + [self.program, path, self.port, str(calls)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def instructions(self, path, calls):
        out = os.path.join(self.folder, f"{path}-{calls}.callgrind")
        self.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"], path, calls)
        return costs(out, self.program)

    def system_calls(self, path, calls):
        out = os.path.join(self.folder, f"{path}-{calls}.strace")
        self.run(["strace", "-f", "-c", "-o", out], path, calls)
        with open(out) as file:
            return int(re.search(r"^100\.00 .*?(\d+)\s+(?:\d+ )?total$", file.read(), re.M)[1])

    def measure(self, path):
        calls = PATHS[path]
        few, many = self.least(path, calls), self.least(path, 3 * calls)
        swift, other, system = ((b - a) / (2 * calls) for a, b in zip(few, many))
        return {"swift": round(swift), "other": round(other), "calls": max(0, round(system, 2))}

    def least(self, path, calls):
        """The least of two runs: now and then the runtime looks something up twice, or the loop turns once more."""
        runs = [self.instructions(path, calls) for _ in range(2)]
        return *map(min, zip(*runs)), self.system_calls(path, calls)


def grown(path, before, now):
    """What is wrong with a path, as sentences."""
    if now["swift"] > before["swift"] * LIMIT:
        yield f"{path}: {now['swift']} instructions of Swift for a call instead of {before['swift']}"
    if now["other"] > before["other"] * 2 + 1000:
        yield f"{path}: {now['other']} instructions of libcurl for a call instead of {before['other']}"
    if now["calls"] > before["calls"] * (1.5 if path in BATCHED else 1.1) + 0.25:
        yield f"{path}: {now['calls']} system calls for a call instead of {before['calls']}"


def show(measured, table):
    print(f"{'':10}{'swift':>10}{'in table':>10}{'':>8}{'other':>10}{'calls':>8}{'in table':>10}")
    for path, now in measured.items():
        before = table.get(path)
        change = f"{100 * (now['swift'] / before['swift'] - 1):+.1f} %" if before else ""
        print(
            f"{path:10}{now['swift']:10}{before['swift'] if before else '':>10}{change:>8}{now['other']:10}"
            f"{now['calls']:8.2f}{before['calls'] if before else '':>10}")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    with open(TABLE) as file:
        tables = json.load(file)
    here = versions()
    table = tables.get(here, {})
    print(f"For each call, with {here}:\n")
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(arguments[0], folder)
        try:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                measured = dict(zip(PATHS, pool.map(subject.measure, PATHS)))
            # What has grown is counted again: a turn of the event loop can come at a bad moment.
            for path in list(PATHS) * 2:
                if path in table and any(grown(path, table[path], measured[path])):
                    again = subject.measure(path)
                    measured[path] = {key: min(again[key], measured[path][key]) for key in again}
        finally:
            subject.stop()
    show(measured, table)
    if "--update" in sys.argv:
        tables[here] = measured
        with open(TABLE, "w") as file:
            json.dump(tables, file, indent=4)
            file.write("\n")
        print(f"\n{TABLE} is written. Say in the commit why a path became dearer.")
        return
    if not table:
        sys.exit(f"\n{TABLE} has no figures for {here}: run Scripts/bench instructions --update, and commit them.")
    problems = [sentence for path in PATHS for sentence in grown(path, table[path], measured[path])]
    if problems:
        problems.append("Make it cheaper, or run Scripts/bench instructions --update and say why.")
        sys.exit("\n" + "\n".join(problems))
    print("\nNo path has grown by more than 3 %.")


main()
