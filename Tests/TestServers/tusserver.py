# SPDX-License-Identifier: MIT
"""A tus 1.0 server of the package tuspyserver: prints its port, and ends at the end of its input.

    tusserver.py <folder>
"""

import functools
import os
import socket
import sys
import threading

import tuspyserver.request
import uvicorn
from fastapi import FastAPI
from tuspyserver import create_tus_router

# The server waits for the lock of an upload on its only thread, which the request that has the lock needs too: after a
# cut it would stand still for 30 seconds. A response with 503 comes instead.
tuspyserver.request.acquire_upload_lock = functools.partial(tuspyserver.request.acquire_upload_lock, timeout=0.2)

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[1]))


def watch():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=watch, daemon=True).start()
print(listener.getsockname()[1], flush=True)
# Without ws="none", uvicorn imports the package websockets, and fails with the version of Debian.
uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none")).run(sockets=[listener])
