# SPDX-License-Identifier: MIT
"""A server of resumable uploads (draft-ietf-httpbis-resumable-upload), written from the text of the draft: it sends
interim responses with status 104, cuts connections at random, and notes each rule for clients that is broken.

    draftserver.py <folder> <seed> <cuts> <min-append-size> <max-append-size>

Prints its port, and ends at the end of its input. `GET /report` is what it has seen, in JSON.
"""

import base64
import hashlib
import json
import os
import random
import socket
import struct
import sys
import threading

folder = sys.argv[1]
seed, cuts, least, most = map(int, sys.argv[2:6])
chance = random.Random(seed)
lock = threading.Lock()
report = {"creations": 0, "cuts": 0, "interims": 0, "conflicts": 0, "heads": 0, "appends": 0, "violations": []}
uploads = {}


class Cut(Exception):
    pass


class Refused(Exception):
    def __init__(self, status, fields=(), violation=None):
        self.status, self.fields = status, list(fields)
        if violation:
            note(violation)


def note(text):
    with lock:
        report["violations"].append(text)


def count(name):
    with lock:
        report[name] += 1


def cut_after(length):
    """The number of bytes after which a transfer is cut, or None: at its head, in its content, or before its end."""
    with lock:
        if report["cuts"] >= cuts or chance.random() < 0.1:
            return None
        report["cuts"] += 1
        if chance.random() < 0.15 and length is not None:
            return length
        return chance.randint(0, min(length if length is not None else 400_000, 400_000))


class Upload:
    def __init__(self, name):
        self.name = name
        self.path = os.path.join(folder, name)
        self.offset = 0
        self.length = None
        self.complete = False
        self.valid = True
        self.digest = hashlib.sha256()
        # The connection of the running transfer, which a new request ends (section Concurrency).
        self.busy = threading.Lock()
        self.socket = None
        open(self.path, "wb").close()

    def append(self, data):
        if self.length is not None and self.offset + len(data) > self.length:
            self.valid = False
            raise Refused(400, violation="the content exceeds the length of the upload")
        with open(self.path, "ab") as file:
            file.write(data)
        self.digest.update(data)
        self.offset += len(data)

    def learn(self, length):
        if length is None:
            return
        if self.length is not None and self.length != length:
            raise Refused(400, violation=f"the length changed from {self.length} to {length}")
        if length < self.offset:
            raise Refused(400, violation="the length is smaller than the offset")
        self.length = length


def integer(fields, name):
    text = fields.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise Refused(400, violation=f"{name} is not an integer: {text}")
    return int(text)


def boolean(fields, name):
    text = fields.get(name)
    if text not in ("?0", "?1", None):
        raise Refused(400, violation=f"{name} is not a Boolean: {text}")
    return None if text is None else text == "?1"


class Connection:
    def __init__(self, client):
        self.client = client
        self.buffer = b""

    def more(self):
        data = self.client.recv(65536)
        if not data:
            raise Cut()
        self.buffer += data

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line.decode("latin-1")

    def some(self, most):
        if not self.buffer:
            self.more()
        data, self.buffer = self.buffer[:most], self.buffer[most:]
        return data

    def content(self, fields):
        """The pieces of the content, with Content-Length or chunked."""
        if "transfer-encoding" in fields:
            while True:
                rest = int(self.line().split(";")[0], 16)
                if rest == 0:
                    while self.line():
                        pass
                    return
                while rest:
                    data = self.some(rest)
                    rest -= len(data)
                    yield data
                self.line()
        rest = int(fields.get("content-length", 0))
        while rest:
            data = self.some(rest)
            rest -= len(data)
            yield data

    def send(self, status, fields, body=b""):
        reasons = {100: "Continue", 104: "Upload Resumption Supported"}
        lines = [f"HTTP/1.1 {status} {reasons.get(status, 'Status')}"] + [f"{name}: {value}" for name, value in fields]
        if status >= 200 and status != 204:
            lines.append(f"Content-Length: {len(body)}")
        self.client.sendall("\r\n".join(lines + ["", ""]).encode() + body)

    def interim(self, fields):
        count("interims")
        self.send(104, [("Upload-Draft-Interop-Version", "8")] + fields)

    def abort(self):
        if chance.random() < 0.5:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Cut()

    def serve(self):
        try:
            while True:
                self.one()
        except (Cut, OSError):
            pass
        finally:
            self.client.close()

    def one(self):
        method, target, _ = self.line().split(" ")
        fields = {}
        while True:
            line = self.line()
            if not line:
                break
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        try:
            self.respond(method, target, fields)
        except Refused as refused:
            # The rest of the content is not read, so the connection cannot be used again.
            self.send(refused.status, refused.fields + [("Connection", "close")])
            raise Cut()

    def limits(self):
        parts = [f"max-append-size={most}", "max-age=3600", "later=?1"]
        return [("Upload-Limit", ", ".join(parts + ([f"min-append-size={least}"] if least else [])))]

    def respond(self, method, target, fields):
        if target == "/report":
            with lock:
                return self.send(200, [], json.dumps(report).encode())
        if method == "OPTIONS":
            return self.send(204, [("Accept-Patch", "application/partial-upload")] + self.limits())
        if fields.get("upload-draft-interop-version") != "8":
            note(f"{method} without the interop version")
        if method == "POST" and target == "/files":
            return self.create(fields)
        upload = uploads.get(target.rpartition("/")[2])
        if upload is None or not upload.valid:
            raise Refused(404)
        if not upload.busy.acquire(blocking=False):
            # The client has given up the earlier transfer, or breaks a rule: either way that transfer ends.
            try:
                upload.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            upload.busy.acquire()
        try:
            upload.socket = self.client
            if method == "HEAD":
                self.head(upload, fields)
            elif method == "PATCH":
                self.patch(upload, fields)
            elif method == "DELETE":
                upload.valid = False
                self.send(204, [])
            else:
                raise Refused(405)
        finally:
            upload.busy.release()

    def create(self, fields):
        complete = boolean(fields, "upload-complete")
        if complete is None:
            raise Refused(400, violation="a creation without Upload-Complete")
        self.check_size(fields, complete, isCreation=True)
        count("creations")
        upload = Upload(f"{len(uploads)}-{seed}")
        upload.learn(integer(fields, "upload-length"))
        uploads[upload.name] = upload
        with upload.busy:
            upload.socket = self.client
            place = [("Location", f"/uploads/{upload.name}")]
            self.interim(place + self.limits())
            self.receive(upload, fields, complete)
            if complete:
                return self.finish(upload)
            self.send(201, place + self.limits() + [("Upload-Complete", "?0"), ("Upload-Offset", upload.offset)])

    def head(self, upload, fields):
        count("heads")
        length = [] if upload.length is None else [("Upload-Length", upload.length)]
        self.send(
            204,
            [("Upload-Offset", upload.offset), ("Upload-Complete", "?1" if upload.complete else "?0")]
            + length
            + self.limits()
            + [("Cache-Control", "no-store")],
        )

    def check_size(self, fields, complete, isCreation=False):
        size = integer(fields, "content-length")
        if size is None and "transfer-encoding" not in fields:
            size = 0
        if size is not None and size > most:
            raise Refused(413, self.limits(), "more content than max-append-size")
        if size is not None and size < least and not complete:
            raise Refused(400, self.limits(), f"{size} bytes, less than min-append-size")

    def patch(self, upload, fields):
        count("appends")
        if fields.get("content-type") != "application/partial-upload":
            raise Refused(415, violation="an append with another media type")
        offset, complete = integer(fields, "upload-offset"), boolean(fields, "upload-complete")
        if offset is None or complete is None:
            raise Refused(400, violation="an append without Upload-Offset or Upload-Complete")
        if upload.complete:
            raise Refused(400, [("Upload-Complete", "?1")], "an append to a complete upload")
        if offset != upload.offset:
            count("conflicts")
            raise Refused(409, [("Upload-Offset", upload.offset)])
        self.check_size(fields, complete)
        upload.learn(integer(fields, "upload-length"))
        size = integer(fields, "content-length")
        if complete and "transfer-encoding" not in fields:
            upload.learn(offset + (size or 0))
        self.receive(upload, fields, complete)
        if complete:
            return self.finish(upload)
        self.send(204, [("Upload-Complete", "?0"), ("Upload-Offset", upload.offset)])

    def receive(self, upload, fields, complete):
        size = integer(fields, "content-length")
        end = cut_after(size) if size or "transfer-encoding" in fields else None
        if fields.get("expect", "").lower() == "100-continue":
            self.send(100, [])
        digest, received, told = hashlib.sha256(), 0, upload.offset
        if end == 0:
            self.abort()
        for data in self.content(fields):
            if end is not None:
                data = data[: end - received]
            received += len(data)
            digest.update(data)
            upload.append(data)
            if end is not None and received >= end:
                if size is not None and received == size and complete:
                    upload.complete = True
                self.abort()
            if upload.offset - told >= 128 << 10:
                told = upload.offset
                self.interim([("Upload-Offset", told)])
        wanted = fields.get("content-digest")
        if wanted is not None:
            value = base64.b64encode(digest.digest()).decode()
            if wanted != f"sha-256=:{value}:":
                note(f"the digest {wanted} is not that of the content")

    def finish(self, upload):
        if upload.length is not None and upload.offset != upload.length:
            raise Refused(400, violation="an upload is completed with another length than it has")
        upload.complete = True
        body = json.dumps({"sha256": upload.digest.hexdigest()}).encode()
        self.send(200, [("Upload-Complete", "?1"), ("Content-Type", "application/json")], body)


def watch():
    sys.stdin.buffer.read()
    os._exit(0)


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=watch, daemon=True).start()
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=Connection(client).serve, daemon=True).start()
