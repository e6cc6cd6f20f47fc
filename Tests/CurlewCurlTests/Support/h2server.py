# SPDX-License-Identifier: MIT
"""A scripted HTTP/2 server: prints its port, serves until its input ends. Arguments: certificate and key.

The first part of the path says what happens to the first request of that path; later ones are answered with the number
of requests so far.

    /refuse     RST_STREAM with REFUSED_STREAM
    /goaway     GOAWAY before this stream, then the connection ends
    /break      half of a body, then RST_STREAM with INTERNAL_ERROR
    /silent     nothing
"""

import collections
import os
import socket
import ssl
import sys
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events

counts = collections.Counter()
lock = threading.Lock()


def respond(connection, stream, count):
    body = str(count).encode()
    connection.send_headers(stream, [(":status", "200"), ("content-length", str(len(body)))])
    connection.send_data(stream, body, end_stream=True)


def misbehave(connection, stream, kind):
    """True when the connection is to end."""
    if kind == "/refuse":
        connection.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
    elif kind == "/goaway":
        connection.close_connection(last_stream_id=0)
        return True
    elif kind == "/break":
        connection.send_headers(stream, [(":status", "200"), ("content-length", "10")])
        connection.send_data(stream, b"12345")
        connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
    return False


def answer(connection, stream, path):
    with lock:
        counts[path] += 1
        count = counts[path]
    kind = "/" + path.split("/")[1]
    if count > 1 or kind == "/ok":
        respond(connection, stream, count)
    elif kind != "/silent":
        return misbehave(connection, stream, kind)
    return False


def serve(peer):
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    paths = {}
    ends = False
    with peer:
        peer.sendall(connection.data_to_send())
        while not ends and (data := peer.recv(65536)):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    paths[event.stream_id] = dict(event.headers)[b":path"].decode()
                elif isinstance(event, h2.events.DataReceived):
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    ends = answer(connection, event.stream_id, paths[event.stream_id]) or ends
            peer.sendall(connection.data_to_send())


def accept(listener):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2"])
    while True:
        peer = context.wrap_socket(listener.accept()[0], server_side=True)
        threading.Thread(target=serve, args=(peer,), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=(listener,), daemon=True).start()
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
os._exit(0)
