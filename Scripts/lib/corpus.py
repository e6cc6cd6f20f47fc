# SPDX-License-Identifier: MIT
"""The inputs of a fuzzer as one file, an input in base64 per line.

    python3 Scripts/lib/corpus.py unpack FILE FOLDER     writes each input into a file of its own
    python3 Scripts/lib/corpus.py pack FILE FOLDER       writes the 60 largest, which cover most, and at most 30 KiB
"""

import base64
import pathlib
import sys

command, file, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
if command == "unpack":
    for number, line in enumerate(file.read_text().split()):
        (folder / f"input-{number}").write_bytes(base64.b64decode(line))
else:
    lines = []
    for data in sorted((path.read_bytes() for path in folder.iterdir()), key=lambda data: (-len(data), data))[:60]:
        line = base64.b64encode(data).decode() + "\n"
        if sum(map(len, lines)) + len(line) <= 30720:
            lines.append(line)
    file.write_text("".join(lines))
