# SPDX-License-Identifier: MIT
"""A scripted HTTP/2 server: prints its port, serves until its input ends. Arguments: certificate and key.

With the word "mixed" behind them it speaks HTTP/2 on every second connection only, and HTTP/1.1 on the others.

A part of the path says what happens to the first request of that path; later ones are answered with the number of
requests so far.

    ok          the answer
    interim     103 before it
    trailers    a field behind it
    trailing    the same, without the length of the body in its head
    early       413 before the request has been read, and no interest in the rest of it
    stop        the same, then RST_STREAM with NO_ERROR
    refuse      RST_STREAM with REFUSED_STREAM
    goaway      GOAWAY before this stream, then the connection ends
    break       half of a body, then RST_STREAM with INTERNAL_ERROR
    vanish      half of a body, then the connection ends
    garbage     bytes that are no frames
    oversize    a frame larger than the client allows
    stray       data for a stream that was never opened
    nostatus    a head without a status
    headless    data before the head
    short       less content than declared
    surplus     more content than declared
    silent      nothing
    echo        the path

Three of one connection belong together: "held" and "flood", whose heads come at once, and "go", with whose answer both
bodies come. That of "flood" has as many bytes as the next part of its path says. Its last ones and all those of "held"
share a record of TLS. With the part "open" neither tells its length.
"""

import collections
import os
import socket
import ssl
import struct
import sys
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events

TIDE = ["held", "flood", "go"]
KINDS = TIDE + [line.split()[0] for line in __doc__.splitlines() if line.startswith("    ")]
counts = collections.Counter()
lock = threading.Lock()


def frame(kind, stream, content, length=None):
    """A frame of its own, which the library would not send."""
    size = len(content) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, 0]) + struct.pack(">I", stream) + content


def respond(connection, stream, count, status="200", trailers=(), declares=True):
    body = str(count).encode()
    length = [("content-length", str(len(body)))] if declares else []
    connection.send_headers(stream, [(":status", status)] + length)
    connection.send_data(stream, body, end_stream=not trailers)
    if trailers:
        connection.send_headers(stream, trailers, end_stream=True)


def partial(connection, stream, declared, content, ends):
    connection.send_headers(stream, [(":status", "200"), ("content-length", str(declared))])
    connection.send_data(stream, content, end_stream=ends)


def misbehave(connection, stream, kind):
    """Bytes to send besides those of the connection, and whether it is to end."""
    if kind == "interim":
        connection.send_headers(stream, [(":status", "103"), ("link", "</a.css>; rel=preload")])
        respond(connection, stream, 1)
    elif kind == "trailers":
        respond(connection, stream, 1, trailers=[("x-sum", "6")])
    elif kind == "trailing":
        respond(connection, stream, 1, trailers=[("x-sum", "6")], declares=False)
    elif kind == "refuse":
        connection.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
    elif kind == "goaway":
        connection.close_connection(last_stream_id=0)
        return b"", True
    elif kind == "break":
        partial(connection, stream, 10, b"12345", False)
        connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
    elif kind == "vanish":
        partial(connection, stream, 10, b"12345", False)
        return b"", True
    elif kind == "garbage":
        return b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1" + b"\xff" * 64, False
    elif kind == "oversize":
        return frame(0, stream, b"12345", length=0xFFFFFF), False
    elif kind == "stray":
        return frame(0, stream + 1000, b"12345"), False
    elif kind == "nostatus":
        connection.send_headers(stream, [("x-status", "200")], end_stream=True)
    elif kind == "headless":
        return frame(0, stream, b"12345"), False
    elif kind == "short":
        partial(connection, stream, 10, b"12345", True)
    elif kind == "surplus":
        partial(connection, stream, 2, b"12345", True)
    return b"", False


def tide(peer, connection, stream, kind, path, streams):
    """One of the three that belong together; `streams` has the other two when the last one comes."""
    if kind != "go":
        parts = path.split("/")
        size = int(parts[parts.index("flood") + 1]) if kind == "flood" else 4
        streams[kind] = stream, size
        length = [] if "open" in parts else [("content-length", str(size))]
        connection.send_headers(stream, [(":status", "200")] + length)
        return
    respond(connection, stream, 1)
    peer.sendall(connection.data_to_send())
    (held, _), (flood, size) = streams["held"], streams["flood"]
    # All of it arrives at once.
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    for start in range(0, size - 100, 16384):
        connection.send_data(flood, b"f" * min(16384, size - 100 - start))
    peer.sendall(connection.data_to_send())
    connection.send_data(flood, b"f" * 100, end_stream=True)
    connection.send_data(held, b"held", end_stream=True)
    peer.sendall(connection.data_to_send())
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


def kind_of(path):
    return next((part for part in path.split("/") if part in KINDS), "ok")


def answer(connection, stream, path):
    with lock:
        counts[path] += 1
        count = counts[path]
    kind = kind_of(path)
    if kind == "echo":
        connection.send_headers(stream, [(":status", "200"), ("content-length", str(len(path)))])
        connection.send_data(stream, path.encode(), end_stream=True)
        return b"", False
    if count > 1 or kind == "ok":
        respond(connection, stream, count)
        return b"", False
    return misbehave(connection, stream, kind)


def serve(peer):
    configuration = h2.config.H2Configuration(
        client_side=False, validate_outbound_headers=False, normalize_outbound_headers=False)
    connection = h2.connection.H2Connection(configuration)
    connection.initiate_connection()
    paths = {}
    streams = {}
    ends = False
    with peer:
        peer.sendall(connection.data_to_send())
        while not ends and (data := peer.recv(65536)):
            extra = b""
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    path = dict(event.headers)[b":path"].decode()
                    if kind_of(path) in ("early", "stop"):
                        respond(connection, event.stream_id, 1, status="413")
                        if kind_of(path) == "stop":
                            connection.reset_stream(event.stream_id, h2.errors.ErrorCodes.NO_ERROR)
                    else:
                        paths[event.stream_id] = path
                elif isinstance(event, h2.events.DataReceived):
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded) and kind_of(paths.get(event.stream_id, "")) in TIDE:
                    path = paths[event.stream_id]
                    tide(peer, connection, event.stream_id, kind_of(path), path, streams)
                elif isinstance(event, h2.events.StreamEnded) and event.stream_id in paths:
                    more, last = answer(connection, event.stream_id, paths[event.stream_id])
                    extra, ends = extra + more, ends or last
            peer.sendall(connection.data_to_send() + extra)


def serve_serially(peer):
    """Requests without a body, one after the other, each answered with its path."""
    waiting = b""
    with peer:
        while data := peer.recv(65536):
            waiting += data
            while b"\r\n\r\n" in waiting:
                head, waiting = waiting.split(b"\r\n\r\n", 1)
                path = head.split(b" ")[1]
                # Long enough for others to come.
                time.sleep(0.005)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path))


def context(*protocols):
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    result.load_cert_chain(sys.argv[1], sys.argv[2])
    result.set_alpn_protocols(protocols)
    return result


def accept(listener):
    # A client that takes HTTP/1.1 only gets it on any connection.
    contexts = [context("h2", "http/1.1"), context("http/1.1")] if "mixed" in sys.argv else [context("h2")]
    number = 0
    while True:
        peer = listener.accept()[0]
        number += 1
        threading.Thread(target=begin, args=(peer, contexts[number % len(contexts)]), daemon=True).start()


def begin(peer, secure):
    try:
        peer = secure.wrap_socket(peer, server_side=True)
        (serve if peer.selected_alpn_protocol() != "http/1.1" else serve_serially)(peer)
    except OSError:
        # A client that does not trust this server, or went away.
        pass


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=(listener,), daemon=True).start()
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
os._exit(0)
