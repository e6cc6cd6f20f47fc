# SPDX-License-Identifier: MIT
"""A server of a list in pages, with Python's HTTP server: prints its port, and ends at the end of its input.

    pageserver.py <pages> <items of a page>

`/links/<n>` names the next page in `Link` fields (RFC 8288), in a spelling that differs from page to page;
`/cursor?after=<text>` in a field of its JSON object; `/offset?offset=<n>&limit=<n>` not at all.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

pages, size = int(sys.argv[1]), int(sys.argv[2])


def links(number, port):
    """The `Link` fields of a page: a list of values."""
    last = number == pages - 1
    target = f"/links/{number + 1}"
    spellings = [
        [f'<{target}>; rel="next"'],
        [f"<{number + 1}>;rel=next"],
        [f'<../links/{number + 1}?a=1,2;b>;  REL = "NEXT"'],
        [f'<http://127.0.0.1:{port}{target}> ; title="rel=\\"prev\\", <x>" ; rel="next"'],
        [f'</links/0>; rel="first", <{target}>; rel="next", </links/{pages - 1}>; rel="last"'],
        ['</links/0>; rel=first', f'<{target}>; title*=UTF-8\'\'n%C3%A4chste; rel="prefetch next"'],
        [f'</about>; rel="help"; foo, <{target}>;rel="x next y";rel="prev"', ""],
        [f'<?number={number + 1}>; rel=next'],
        [f'</links/9999>; rel="next"; anchor="/other", ,, <{target}>; rel=next ; hreflang=de'],
    ]
    return ['</links/0>; rel="first"; title="next"'] if last else spellings[number % len(spellings)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes, between which the system would wait for the client's acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self):
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        fields = []
        if parts.path.startswith("/links/"):
            number = int(query.get("number", parts.path.rpartition("/")[2]))
            fields = links(number, self.server.server_address[1])
            body = {"items": self.items(number)}
        elif parts.path == "/cursor":
            number = int(query.get("after", "page 0").split(" ")[1])
            body = {"items": self.items(number), "next": f"page {number + 1} &=+/%" if number + 1 < pages else None}
        else:
            start, limit = int(query.get("offset", 0)), int(query.get("limit", size))
            body = {"items": list(range(start, min(start + limit, pages * size)))}
        data = json.dumps(body).encode()
        self.send_response(200)
        for value in fields:
            self.send_header("Link", value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def items(self, number):
        return list(range(number * size, (number + 1) * size))

    def log_message(self, *arguments):
        pass


def watch():
    sys.stdin.buffer.read()
    os._exit(0)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=watch, daemon=True).start()
print(server.server_address[1], flush=True)
server.serve_forever()
