# SPDX-License-Identifier: MIT
"""One WebSocket of Python's websockets: sends messages of SIZE bytes, DEPTH at a time, to an echo for SECONDS, and
prints a sample as JSON.

    python3 websockets_client.py PORT SIZE DEPTH SECONDS
"""

import asyncio
import json
import sys
import time

import websockets

port, size, depth, seconds = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])


async def main():
    message = bytes(size)
    async with websockets.connect(
            f"ws://127.0.0.1:{port}/", compression=None, ping_interval=None, max_size=None) as socket:
        for _ in range(depth):
            await socket.send(message)
        count, start, cpu = 0, time.monotonic(), time.process_time()
        end = start + seconds
        while time.monotonic() < end:
            for _ in range(16):
                if len(await socket.recv()) != size:
                    raise SystemExit("wrong answer")
                await socket.send(message)
            count += 16
        print(json.dumps(
            {"messages": count, "seconds": time.monotonic() - start, "cpu": time.process_time() - cpu}), flush=True)
        socket.transport.abort()


try:
    import uvloop
    uvloop.install()
except ImportError:
    pass
asyncio.run(main())
