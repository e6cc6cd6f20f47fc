# SPDX-License-Identifier: MIT
"""Makes the pictures of the README and the pages from real runs, and checks those in the repository.

    pictures.py TOUR COMMAND            writes them: the waterfall of the tour's recorder, a session of the command
    pictures.py --check TOUR COMMAND    runs both too, and compares the words of the pictures, without their numbers
    pictures.py --named                 that the pictures are there which pages name; runs nothing
"""

import json
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from datetime import datetime

import source
import svg

FOLDER = "Documentation/Curlew.docc/Resources"
SECONDS = 60
PHASES = [("queue", "blocked", "queued"), ("dns", "dns", "name lookup"), ("connect", "connect", "connecting"),
          ("send", "send", "sending"), ("wait", "wait", "waiting"), ("receive", "receive", "receiving")]


# The waterfall, as Scripts/report/page.js draws it.

def recording(tour):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "calls.har"
        run = subprocess.run([tour, "--har", file], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        if run.returncode:
            sys.exit(f"pictures: the tour failed:\n{run.stdout.decode()}")
        return json.loads(file.read_text(encoding="utf-8"))["log"]["entries"]


def calls_of(entries):
    """The requests of each call, with the moments of the calls in milliseconds since the first one."""
    calls = {}
    for entry in entries:
        facts = entry["_curlew"]
        start = datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00")).timestamp() * 1000
        call = calls.setdefault(facts["call"], {"start": start - facts["start"], "requests": []})
        call["requests"].append(entry)
        call["time"], call["failed"] = facts["callTime"], facts.get("failed", False)
    # Moments are whole milliseconds in a document, and the durations beside them are not.
    return sorted(calls.values(), key=lambda call: (call["start"], call["requests"][0]["_curlew"]["call"]))


def waterfall(entries):
    calls = calls_of(entries)
    first = calls[0]["start"]
    length = max(call["start"] - first + call["time"] for call in calls)
    rows = sum(1 + (len(call["requests"]) if len(call["requests"]) > 1 else 0) for call in calls)
    told = max(calls, key=lambda call: len(call["requests"]))
    story = [(decision["time"], decision["text"]) for entry in told["requests"]
             for decision in entry["_curlew"].get("decisions", [])]
    top, row, left, room = 62, 22, 440, 380
    height = top + rows * row + 40 + 22 + len(story) * 18 + 12
    requests = sum(entry["_curlew"]["request"] > 0 for entry in entries)
    title = f"{len(calls)} calls, {requests} requests, as the recorder saw them"
    picture = svg.Picture(840, height, title, "A waterfall of calls, attempts and redirects, with the phases of each.")
    picture.text(20, 30, title, weight=600)
    step = next(step for step in (20, 50, 100, 200, 500, 1000, 2000) if length / step <= 7)
    for tick in range(0, int(length) + 1, step):
        picture.text(left + tick / length * room, 52, f"{tick} ms", "soft", "middle" if tick else "start", 11)

    def bar(y, start, entry):
        x = left + start / length * room
        for name, key, _ in PHASES:
            duration = max(0, entry["timings"].get(key, -1))
            if duration / length * room >= 0.3:
                picture.rect(x, y - 10, max(1, duration / length * room), 12, name)
            x += duration / length * room
        if entry["response"].get("_error"):
            picture.rect(x, y - 10, 4, 12, "bad")
        for decision in entry["_curlew"].get("decisions", []):
            moment = start - entry["_curlew"]["start"] + decision["time"]
            picture.rect(left + moment / length * room - 1, y - 12, 2, 16, "text")

    y = top + 14
    for call in calls:
        several = len(call["requests"]) > 1
        start = call["start"] - first
        last = call["requests"][-1]
        head(picture, y, last if several else call["requests"][0], call["requests"][0], call["time"],
             f"{len(call['requests'])} requests" if several else "", call["failed"])
        picture.rect(left, y - 12, room, 16, "track", 3)
        if several:
            picture.rect(left + start / length * room, y - 6, call["time"] / length * room, 4, "soft", 2)
        else:
            bar(y, start, call["requests"][0])
        y += row
        for entry in call["requests"] if several else []:
            facts = entry["_curlew"]
            words = (f"redirect {facts['hop']}, " if facts["hop"] else "") + f"attempt {facts['attempt']}"
            head(picture, y, entry, entry, facts.get("total") or entry["time"], words, False, child=True)
            picture.rect(left, y - 12, room, 16, "track", 3)
            bar(y, start + facts["start"], entry)
            y += row
    x = 20
    for name, _, words in PHASES:
        picture.rect(x, y + 2, 12, 10, name, 2)
        picture.text(x + 17, y + 11, words, "soft", size=11.5)
        x += 34 + 6.4 * len(words)
    picture.rect(x, y, 2, 14, "text")
    picture.text(x + 8, y + 11, "a decision", "soft", size=11.5)
    path = re.sub(r"^\w+://[^/]+", "", told["requests"][0]["request"]["url"])
    picture.text(20, y + 42, f"What happened to GET {path}, and why", weight=600)
    for number, (moment, text) in enumerate(story):
        picture.text(84, y + 64 + number * 18, duration(moment), "soft", "end", 11.5)
        picture.text(96, y + 64 + number * 18, text if len(text) < 122 else text[:120] + "…", size=11.5)
    return picture.svg()


def head(picture, y, outcome, entry, time, note, failed, child=False):
    """The columns of a row before its bar."""
    status = outcome["response"]["status"]
    color = {2: "good", 3: "accent", 4: "warn"}.get(status // 100, "bad")
    picture.text(20, y, str(status) if status else "failed", "bad" if failed else color, weight=600)
    picture.text(66, y, entry["request"]["method"])
    path = re.sub(r"^\w+://[^/]+", "", entry["request"]["url"])
    if not note and entry["_curlew"]["request"] == 0:
        note = "not sent"
    picture.text(126 if child else 110, y, [(path + "  ", "text", None), (note, "soft", None)])
    picture.text(426, y, duration(time), "soft", "end")


def duration(milliseconds):
    if milliseconds < 1:
        return f"{milliseconds * 1000:.0f} µs"
    return f"{milliseconds:.1f} ms" if milliseconds < 9.95 else f"{milliseconds:.0f} ms"


# The session of the command, in a terminal.

SESSION = [
    "curlew :{port}/auth/login username=emilys password=emilyspass --offline",
    "curlew :{port}/products/1 --explain --timing -h",
]
COLUMNS = 100
# The codes of the command's colours, with those of the pictures.
CODES = {"36": "cyan", "32": "good", "35": "violet", "33": "warn", "31": "bad", "2": "soft"}


def in_terminal(words, environment):
    """What a program writes to a terminal, as lines of runs of text with color and weight."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(environment)
        os.execv(words[0], words)
    output, end = b"", time.monotonic() + SECONDS
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            output += piece
    os.close(terminal)
    os.waitpid(child, 0)
    return output.decode("utf-8").replace("\r\n", "\n")


def runs(line):
    """The pieces of a line between the codes of its colours."""
    color, weight, pieces = "text", None, []
    for part in re.split(r"(\x1b\[[\d;]*[A-Za-z])", line):
        if part.startswith("\x1b["):
            if part.endswith("m"):
                codes = part[2:-1].split(";")
                color = next((CODES[code] for code in codes if code in CODES), "text")
                weight = 600 if "1" in codes else None
        elif part:
            pieces.append((part, color, weight))
    return pieces


def wrapped(pieces):
    """The lines of the terminal that a line takes."""
    lines, room = [[]], COLUMNS
    for text, color, weight in pieces:
        while len(text) > room:
            lines[-1].append((text[:room], color, weight))
            lines.append([])
            text, room = text[room:], COLUMNS
        lines[-1].append((text, color, weight))
        room -= len(text)
    return lines


def session(command):
    server = subprocess.Popen([command, "serve"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().strip().rpartition(":")[2]
        with tempfile.TemporaryDirectory() as home:
            environment = {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "50", "HOME": home}
            environment.update({"LANG": "C.UTF-8", "NO_COLOR": ""})
            lines = []
            for words in SESSION:
                # Every run has another port; readers would type one that they chose.
                typed = words.format(port="8080")
                lines.append([("$ ", "soft", None), (typed, "text", 600)])
                output = in_terminal([command, *words.format(port=port).split()[1:]], environment)
                for line in output.rstrip("\n").replace(f":{port}", ":8080").split("\n"):
                    lines += wrapped(runs(line))
                lines.append([])
    finally:
        server.terminate()
        server.wait(SECONDS)
    lines = lines[:-1]
    picture = svg.Picture(840, 46 + 18 * len(lines), "A session of the command curlew",
                          "A request that is shown and not sent, and one with what happened, and its phases.",
                          svg.MONO, 13)
    for number, line in enumerate(lines):
        if line:
            picture.text(24, 36 + 18 * number, line)
    return picture.svg()


# What the repository has.

def check_named():
    """Every picture that a page names is there, says what it shows, and each one in the folder is named."""
    problems, named = [], set()
    pages = ["README.md", *(path for path in source.files() if path.startswith("Documentation/") and
                            path.endswith(".md"))]
    for page in pages:
        for words, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", source.text(page)):
            file = path if page == "README.md" else f"{FOLDER}/{path}"
            named.add(file)
            if not (source.ROOT / file).is_file():
                problems.append(f"{page}: there is no picture {file}")
            if len(words.split()) < 3:
                problems.append(f"{page}: {path} needs words for those who do not see it")
    for path in source.files():
        if path.startswith(FOLDER + "/"):
            if path not in named:
                problems.append(f"{path}: no page names it")
            text = source.text(path)
            if re.search(r"<(?:script|image|foreignObject)\b|\burl\(|@import|(?:href|src)=", text):
                problems.append(f"{path}: loads or runs something")
    return problems


def main():
    arguments = sys.argv[1:]
    checks = arguments[:1] == ["--check"]
    problems = check_named() if checks or arguments == ["--named"] else []
    if arguments != ["--named"]:
        tour, command = arguments[-2:]
        made = {"waterfall.svg": waterfall(recording(tour)), "session.svg": session(command)}
        for name, text in made.items():
            file = source.ROOT / FOLDER / name
            if not checks:
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
            elif not file.is_file() or svg.structure(file.read_text(encoding="utf-8")) != svg.structure(text):
                problems.append(f"{FOLDER}/{name}: a run shows something else; look at it, and run Scripts/pictures")
            print(f"pictures: {name}: {len(text.encode())} bytes")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"pictures: {len(problems)} violations" if problems else "pictures: clean")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
