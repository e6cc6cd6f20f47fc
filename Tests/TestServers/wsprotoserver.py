# SPDX-License-Identifier: MIT
"""A WebSocket server by wsproto. Prints its port, and serves until its input ends. The paths are those of
websocketserver.py that its independent copies need: /echo, /deflate, /count, /close, /drop, /headers, /refuse."""

import asyncio
import logging
import sys
from urllib.parse import parse_qs, urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection, BytesMessage, CloseConnection, Ping, RejectConnection, RejectData, Request, TextMessage)
from wsproto.extensions import PerMessageDeflate
from wsproto.utilities import LocalProtocolError, RemoteProtocolError


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.machine = WSConnection(ConnectionType.SERVER)
        self.parts = []
        self.path = ""

    def data_received(self, data):
        try:
            self.machine.receive_data(data)
            for event in self.machine.events():
                self.handle(event)
        except RemoteProtocolError as error:
            if error.event_hint is not None:
                self.send(error.event_hint)
            self.transport.close()
        except LocalProtocolError:
            self.transport.abort()

    def send(self, event):
        self.transport.write(self.machine.send(event))

    def handle(self, event):
        if isinstance(event, Request):
            self.open(event)
        elif isinstance(event, (TextMessage, BytesMessage)):
            self.parts.append(event.data)
            if event.message_finished:
                kind, parts, self.parts = type(event), self.parts, []
                self.message(kind(data=parts[0][:0].join(parts)))
        elif isinstance(event, Ping):
            self.send(event.response())
        elif isinstance(event, CloseConnection):
            self.send(event.response())
            self.transport.close()

    def open(self, request):
        target = urlsplit(request.target)
        self.path = target.path
        query = {name: int(values[0]) for name, values in parse_qs(target.query).items()}
        if self.path == "/refuse":
            headers = [(b"Content-Type", b"text/plain"), (b"Content-Length", b"13")]
            self.send(RejectConnection(status_code=403, headers=headers, has_body=True))
            self.send(RejectData(data=b"members only\n"))
            self.transport.close()
            return
        compression = PerMessageDeflate()
        if self.path == "/deflate":
            compression = PerMessageDeflate(
                client_no_context_takeover=query.get("clientResets") == 1,
                server_no_context_takeover=query.get("serverResets") == 1,
                client_max_window_bits=query.get("client"),
                server_max_window_bits=query.get("server"))
        subprotocol = next((name for name in ("chat.v2", "chat.v1") if name in request.subprotocols), None)
        self.send(AcceptConnection(subprotocol=subprotocol, extensions=[compression]))
        if self.path == "/count":
            for number in range(query["n"]):
                self.send(TextMessage(data=str(number)))
            self.send(CloseConnection(code=1000))
        elif self.path == "/close":
            self.send(CloseConnection(code=4001, reason="enough"))
        elif self.path == "/headers":
            fields = [f"{name.decode()}: {value.decode()}" for name, value in request.extra_headers]
            fields += ["Host: " + request.host]
            self.send(TextMessage(data="\n".join(fields)))

    def message(self, event):
        if self.path in ("/echo", "/deflate"):
            # Two frames: a message is not always one.
            half = len(event.data) // 2
            self.send(type(event)(data=event.data[:half], message_finished=False))
            self.send(type(event)(data=event.data[half:]))
        elif self.path == "/drop":
            self.transport.abort()


# The tests read only the port. Further lines would fill the pipe, and a full pipe stops the server.
logging.disable()


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
