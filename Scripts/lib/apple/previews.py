#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A compiler plug-in that expands `#Preview` to nothing. Its arguments are checked all the same.

Messages are JSON behind their length in eight bytes, the lowest first.
"""

import json
import sys


def main():
    while len(size := sys.stdin.buffer.read(8)) == 8:
        message = json.loads(sys.stdin.buffer.read(int.from_bytes(size, "little")))
        if "getCapability" in message:
            reply = {"getCapabilityResult": {"capability": {"protocolVersion": 7}}}
        else:
            reply = {"expandMacroResult": {"expandedSource": "", "diagnostics": []}}
        text = json.dumps(reply).encode()
        sys.stdout.buffer.write(len(text).to_bytes(8, "little") + text)
        sys.stdout.buffer.flush()


main()
