# SPDX-License-Identifier: MIT
"""A tus 1.0 server of the package resumable-upload, with every extension: prints its port, and ends at the end of its
input.

    fulltusserver.py <folder> <seconds before an upload expires>
"""

import os
import sys
import threading
from http.server import ThreadingHTTPServer

from resumable_upload import SQLiteStorage, TusHTTPRequestHandler, TusServer

folder, seconds = sys.argv[1:3]


class Handler(TusHTTPRequestHandler):
    tus_server = TusServer(
        storage=SQLiteStorage(db_path=os.path.join(folder, "uploads.db"), upload_dir=folder),
        base_path="/files",
        upload_expiry=int(seconds),
        # After a cut, the old request holds the lock until its thread notices the end of the connection.
        lock_wait_seconds=0.2,
    )


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True


def watch():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=watch, daemon=True).start()
print(server.server_address[1], flush=True)
# Requests that are cut write their complaints to the error output, where nothing reads them.
sys.stderr = open(os.devnull, "w")
server.serve_forever()
