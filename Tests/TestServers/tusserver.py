# SPDX-License-Identifier: MIT
"""A tus 1.0 server of the package tuspyserver: prints its port, and ends at the end of its input.

    tusserver.py <folder>
"""

import os
import socket
import sys
import threading

import uvicorn
from fastapi import FastAPI
from tuspyserver import create_tus_router

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[1]))


def watch():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=watch, daemon=True).start()
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
