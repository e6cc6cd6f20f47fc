# SPDX-License-Identifier: MIT
"""A WebSocket server by Python's websockets. Prints its port, and serves until its input ends.

    /echo        sends every message back
    /deflate?server=9&client=12&serverResets=1&clientResets=0
                 like /echo, with these parameters of permessage-deflate
    /count?n=5   sends the messages "0" … "4", then closes with 1000
    /close       closes with 4001 and the reason "enough"
    /drop        ends the TCP connection without a close frame after the first message
    /restart     receives a message, sends "news", and closes with 1012
    /flood       sends binary messages of 64 KiB without an end
    /silent      sends nothing, and answers no ping
    /headers     sends the fields of the request as one text message
    /refuse      a 403 with a body
    /plain       a 200 with a body
"""

import asyncio
import http
import logging
import sys
from urllib.parse import parse_qs, urlsplit

import websockets
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.server import WebSocketServerProtocol


class Protocol(WebSocketServerProtocol):
    async def process_request(self, path, headers):
        if path == "/refuse":
            return http.HTTPStatus.FORBIDDEN, [("Content-Type", "text/plain")], b"members only\n"
        if path == "/plain":
            return http.HTTPStatus.OK, [("Content-Type", "text/plain")], b"hello\n"
        if path.startswith("/deflate?"):
            self.deflate = {name: int(values[0]) for name, values in parse_qs(urlsplit(path).query).items()}
        return None

    def process_extensions(self, headers, available):
        parameters = getattr(self, "deflate", None)
        if parameters is not None:
            available = [ServerPerMessageDeflateFactory(
                server_no_context_takeover=parameters["serverResets"] == 1,
                client_no_context_takeover=parameters["clientResets"] == 1,
                server_max_window_bits=parameters["server"], client_max_window_bits=parameters["client"])]
        return WebSocketServerProtocol.process_extensions(headers, available)


async def serve(socket):
    path = socket.path
    if path == "/echo" or path.startswith("/deflate?"):
        async for message in socket:
            await socket.send(message)
    elif path.startswith("/count?n="):
        for number in range(int(path.split("=")[1])):
            await socket.send(str(number))
    elif path == "/close":
        await socket.close(4001, "enough")
    elif path == "/drop":
        await socket.recv()
        socket.transport.abort()
    elif path == "/restart":
        await socket.recv()
        await socket.send("news")
        await socket.close(1012, "restart")
    elif path == "/flood":
        while True:
            await socket.send(bytes(64 << 10))
    elif path == "/silent":
        socket.transport.pause_reading()
        await asyncio.sleep(3600)
    elif path == "/headers":
        await socket.send("\n".join(f"{name}: {value}" for name, value in socket.request_headers.raw_items()))
        async for _ in socket:
            pass


# The tests read only the port. Further lines would fill the pipe, and a full pipe stops the server.
logging.disable()


async def main():
    compression = None if "plain" in sys.argv else "deflate"
    server = await websockets.serve(
        serve, "127.0.0.1", 0, create_protocol=Protocol, compression=compression, ping_interval=None,
        max_size=64 << 20, subprotocols=["chat.v2", "chat.v1"])
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
