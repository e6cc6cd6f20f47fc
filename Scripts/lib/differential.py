# SPDX-License-Identifier: MIT
"""Compares the parser of HTTP/1.1 responses with libcurl and h11 on generated responses.

    python3 Scripts/lib/differential.py FOLDER COUNT [SEED]

`Scripts/fuzz --compare COUNT` builds FOLDER/responses.so and FOLDER/curl.so and calls this with an interpreter that has
h11. Prints how often each kind of difference occurred. Status 1 if one of them is not explained: a kind that is neither
stricter than the other parser nor in Documentation/HTTP1.md.
"""

import collections
import ctypes
import json
import random
import re
import sys

import h11

# What a response is made of. Most choices are valid, so that most responses get beyond their head.
STARTS = ["HTTP/1.1 200 OK"] * 50 + [
    "HTTP/1.1 404 Not Found", "HTTP/1.0 200 OK", "HTTP/1.0 200 OK", "HTTP/1.1 204 No Content", "HTTP/1.1 304",
    "HTTP/1.1 205 Reset Content", "HTTP/1.1 500 ", "HTTP/1.1 999 x", "HTTP/1.2 200 OK", "HTTP/1.1 101 Switching",
    "HTTP/2 200", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099 x", "http/1.1 200 OK", "HTTP/1.1  200 OK",
    "HTTP/1.1 200\tOK", "HTTP/1.1 200OK", "ICY 200 OK", " HTTP/1.1 200 OK", "HTTP/1.1 200 O\rK", "HTTP/1.1 200 caf\xe9",
]
NAMES = ["X-A", "x-b", "Server", "Date", "ETag", "Set-Cookie", "Content-Type", "X!#$%&'*+.^_`|~"] * 3 + [
    "X A", "X-A ", "", "X(", "X\xe9", "X\0", "X\t",
]
VALUES = ["a", "b c", "", " d ", "x:y", "\tz", "\xe9", "\xc3\xbc", "q" * 40] * 3 + [
    "a\0b", "a\1b", "a\rb", "\x7f", "\x0b",
]
FOLDS = ["\r\n b", "\r\n\tb", "\n c", "\r\n "]
LENGTHS = ["+5", "-5", "5x", "x", "", "5 5", "5,5", "5, 6", "5,", "0x5", "05", "99999999999999999999", "5\r", "5\1"]
CODINGS = [
    "Chunked", "gzip", "gzip, chunked", "chunked, chunked", "identity", "chunked,", "", "xchunked", "chunked;a=b",
    "chunked, gzip", "\x0bchunked", "chunked\r",
]
OPTIONS = ["close", "keep-alive", "Keep-Alive, x", "x", "upgrade", ", close"]
SIZES = [
    "{:x}", "{:X}", "{:x} ", "{:x}\t", "0{:x}", "000000000000000{:x}", "{:x};a=b", "{:x} ; a", "{:x};a=\"b;c\"",
    "+{:x}", "-{:x}", "0x{:x}", "{:x}x", " {:x}", "g", "", "{:x};a\rb", "{:x};\0", "fffffffffffffffff", "{:x}\r",
]
PIECES = ["\r\n", "\n", "\r", " ", "\t", "\0", ":", ",", ";", "0", "5", "\xff", "\x0b", "HTTP/1.1 200\r\n"]


def generate(r):
    """A method and the bytes of a connection."""
    rare = lambda one_in: r.random() * one_in < 1
    end = lambda: "\n" if rare(12) else "\r\r\n" if rare(200) else "\r\n"
    text = ""
    while rare(8):
        text += r.choice(["HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints", "HTTP/1.1 102"]) + end()
        text += "Link: x" + end() if rare(2) else ""
        text += end()
    text += r.choice(STARTS) + end()
    size = r.choice([0, 1, 5, 5, 20])
    content = "".join(r.choice("ab\r\n0") for _ in range(size))
    lines = []
    for _ in range(r.choice([0, 0, 1, 2, 3])):
        name = r.choice(NAMES) if rare(4) else r.choice(NAMES[:8])
        value = r.choice(VALUES) if rare(4) else r.choice(VALUES[:9])
        lines.append(name + r.choice([":", ": ", ":\t "]) + value + (r.choice(FOLDS) if rare(15) else ""))
    if rare(60):
        lines.append(r.choice(["X-A", ": x", " folded", "\tfolded: x", "\1"]))
    is_chunked = rare(2)
    if is_chunked:
        name = r.choice(["transfer-encoding", "Transfer-encoding "]) if rare(9) else "Transfer-Encoding"
        coding = r.choice(CODINGS) if rare(10) else "chunked"
        lines.append(name + ":" + r.choice([" ", "", "\t", "\r\n "] if rare(9) else [" "]) + coding)
    if rare(10) if is_chunked else not rare(6):
        name = r.choice(["content-length", "Content-Length\t", "Content-Length "]) if rare(9) else "Content-Length"
        length = r.choice(LENGTHS) if rare(9) else str(size + (r.choice([-1, 1, 7]) if rare(12) else 0))
        lines.extend([name + ":" + r.choice([" ", "", "\r\n " if rare(9) else "\t"]) + length] * (2 if rare(20) else 1))
    if rare(6):
        lines.append("Connection: " + r.choice(OPTIONS))
    r.shuffle(lines)
    text += "".join(line + end() for line in lines) + end()
    if is_chunked:
        half = size // 2
        for part in [content[:half], content[half:]]:
            if part or rare(40):
                form = r.choice(SIZES) if rare(7) else "{:x}"
                text += form.format(len(part)) + ("\n" if rare(60) else "\r\n") + part + ("\n" if rare(60) else "\r\n")
        text += "" if rare(25) else "0" + ("\n" if rare(60) else "\r\n")
        while rare(6):
            text += r.choice(["X-Sum: 7", "X-Sum: 7", "Content-Length: 3", "X-Sum : 7", "X-Sum", " x", "a:\1"]) + end()
        text += "" if rare(25) else end() if rare(9) else "\r\n"
    else:
        text += content
    while rare(5):
        position = r.randrange(len(text) + 1)
        text = text[:position] + r.choice(PIECES) + text[position + r.choice([0, 0, 1, 2]):]
    if rare(12):
        text += "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    return r.choice(["GET"] * 6 + ["HEAD"]), text.encode("latin-1")


def plain(text):
    """A value as all parsers could show it: blanks and control characters are one space, and none are at the ends."""
    return re.sub(r"[\x00-\x20\x7f]+", " ", text).strip(" ")


def fields(pairs):
    return [(name.lower(), plain(value)) for name, value in pairs]


def text(value):
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


class Ours:
    name = "this parser"

    def __init__(self, folder):
        self.library = ctypes.CDLL(f"{folder}/responses.so")
        self.buffer = ctypes.create_string_buffer(1 << 20)

    def __call__(self, method, data):
        """Status, content, fields and trailers; or an error as text."""
        count = self.library.read_response(
            method.encode(), data, ctypes.c_long(len(data)), self.buffer, ctypes.c_long(1 << 20))
        result = json.loads(self.buffer.raw[:count] if count > 65536 else ctypes.string_at(self.buffer, count))
        if "error" in result:
            return result["error"]
        content = result["content"].encode("latin-1")
        return result["status"], content, fields(result["fields"]), fields(result["trailers"])


class Curl:
    name = "libcurl"
    NAMES = {8: "weird reply", 1: "unsupported", 18: "partial", 52: "nothing", 56: "receive", 61: "coding", 43: "field"}

    def __init__(self, folder):
        self.library = ctypes.CDLL(f"{folder}/curl.so")
        self.buffer = ctypes.create_string_buffer(1 << 20)

    def __call__(self, method, data):
        written = ctypes.c_size_t()
        status = self.library.read_with_curl(
            method.encode(), data, ctypes.c_size_t(len(data)), self.buffer, ctypes.c_size_t(1 << 20),
            ctypes.byref(written))
        if status < 0:
            return self.NAMES.get(-status, str(-status))
        rest = ctypes.string_at(self.buffer, written.value)
        groups = [[], [], []]
        for group in groups:
            while True:
                size, _, rest = rest.partition(b" ")
                if size == b"-1":
                    break
                group.append(rest[:int(size)])
                rest = rest[int(size):]
        pairs = lambda group: fields(zip(map(text, group[::2]), map(text, group[1::2])))
        return status, b"".join(groups[0]), pairs(groups[1]), pairs(groups[2])


class H11:
    name = "h11"

    def __call__(self, method, data):
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=100_000)
        connection.send(h11.Request(method=method, target="/", headers=[("Host", "x")]))
        connection.send(h11.EndOfMessage())
        status, content, head, trailers = 0, b"", [], []
        pairs = lambda headers: fields((text(name), text(value)) for name, value in headers)
        try:
            for piece in (data, b""):
                connection.receive_data(piece)
                while True:
                    event = connection.next_event()
                    if event in (h11.NEED_DATA, h11.PAUSED):
                        break
                    if isinstance(event, h11.Response):
                        status, head = event.status_code, pairs(event.headers)
                    elif isinstance(event, h11.Data):
                        content += bytes(event.data)
                    elif isinstance(event, h11.EndOfMessage):
                        return status, content, head, pairs(event.headers)
                    elif isinstance(event, h11.ConnectionClosed):
                        return "closed"
        except h11.RemoteProtocolError as error:
            return str(error)
        return "incomplete"


def parts(ours, theirs):
    names = ["status", "content", "fields", "trailers"]
    return [name for name, left, right in zip(names, ours, theirs) if left != right]


CONTROL = re.compile(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")

# The differences that Documentation/HTTP1.md explains: what they are called there, whose, what the other parser does,
# and what has to be true of the response.
EXPLAINED = [
    ("101 without a request for it", "libcurl", "nothing|differs in .*", lambda data, ours, theirs: ours[0] == 101),
    ("101 without a request for it", "h11", ".*_SWITCH_UPGRADE event.*", lambda data, ours, theirs: ours[0] == 101),
    ("a later version of HTTP/1", "libcurl", "unsupported", lambda data, *_: re.search(rb"(?m)^HTTP/1\.[2-9]", data)),
    ("control characters", "h11", r"illegal (header|status) line.*(\\x[01]\w|\\x7f|\\r).*", lambda *_: True),
    ("control characters", "libcurl", "differs in (fields|trailers)|receive", lambda data, *_: CONTROL.search(data)),
    ("framing fields are rewritten", "h11", "differs in (fields|trailers|fields, trailers)",
     lambda data, ours, theirs: all(without_framing(ours[n]) == without_framing(theirs[n]) for n in (2, 3))),
    ("equal lengths in other digits", "h11", "conflicting Content-Length headers",
     lambda data, *_: re.search(rb"(?i)Content-Length:[ \t,0-9\r\n]*\b0[0-9]", data)),
    ("framing fields in trailers", "h11", "bad Content-Length|Transfer-Encoding.*|multiple .*|conflicting .*",
     lambda data, ours, theirs: without_framing(ours[3]) != ours[3]),
    ("blanks before an extension", "h11", r"illegal chunk header.*[0-9a-fA-F]( |\\t)+;.*", lambda *_: True),
]


def without_framing(pairs):
    return [pair for pair in pairs if pair[0] not in ("content-length", "transfer-encoding")]


def explanation(other, data, ours, theirs, what):
    for name, whose, pattern, condition in EXPLAINED:
        if whose == other and re.fullmatch(pattern, what, re.S) and condition(data, ours, theirs):
            return name
    return None


def main(folder, count, seed):
    r = random.Random(seed)
    ours, others = Ours(folder), [Curl(folder), H11()]
    kinds = collections.Counter()
    unexplained = 0
    for _ in range(count):
        method, data = generate(r)
        mine = ours(method, data)
        for other in others:
            theirs = other(method, data)
            if isinstance(mine, str):
                kinds[other.name, "both refuse" if isinstance(theirs, str) else f"only refused here: {mine}"] += 1
                continue
            if mine == theirs:
                kinds[other.name, "equal"] += 1
                continue
            what = theirs if isinstance(theirs, str) else "differs in " + ", ".join(parts(mine, theirs))
            name = explanation(other.name, data, mine, theirs, what)
            if name is None:
                unexplained += 1
                name = f"UNEXPLAINED {what}"
                if kinds[other.name, name] < 2:
                    print(f"{other.name}: {name}\n    {method} {data}\n    {mine}\n    {theirs}")
            kinds[other.name, name] += 1
    print(f"{count} responses of seed {seed}")
    for (other, kind), number in sorted(kinds.items()):
        print(f"{number:9}  {other}: {kind}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else random.getrandbits(32)))
