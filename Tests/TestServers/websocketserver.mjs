// SPDX-License-Identifier: MIT
// A WebSocket server by Node's ws. Prints its port, and serves until its input ends. The paths are those of
// websocketserver.py that its independent copies need: /echo, /deflate, /count, /close, /drop, /headers, /refuse.

import http from "node:http";
import { createRequire } from "node:module";

const load = () => {
  const require = createRequire(import.meta.url);
  try {
    return require("ws");
  } catch {
    // Debian keeps the packages of Node here, and not every Node searches it.
    return require("/usr/share/nodejs/ws");
  }
};
const { WebSocketServer } = load();

const server = http.createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "text/plain" });
  response.end("hello\n");
});

const number = (url, name) => (url.searchParams.has(name) ? Number(url.searchParams.get(name)) : undefined);

/** The compression of a path: an object for the parameters in its query, false without compression. */
const compression = (url) => {
  if (url.pathname !== "/deflate") return { threshold: 0 };
  return {
    threshold: 0,
    serverMaxWindowBits: number(url, "server"),
    clientMaxWindowBits: number(url, "client"),
    serverNoContextTakeover: number(url, "serverResets") === 1,
    clientNoContextTakeover: number(url, "clientResets") === 1,
  };
};

const serve = (socket, request, url) => {
  switch (url.pathname) {
    case "/echo":
    case "/deflate":
      socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
      break;
    case "/count":
      for (let index = 0; index < number(url, "n"); index += 1) socket.send(String(index));
      socket.close(1000);
      break;
    case "/close":
      socket.close(4001, "enough");
      break;
    case "/drop":
      socket.on("message", () => socket.terminate());
      break;
    case "/headers": {
      const lines = [];
      for (let index = 0; index < request.rawHeaders.length; index += 2) {
        lines.push(`${request.rawHeaders[index]}: ${request.rawHeaders[index + 1]}`);
      }
      socket.send(lines.join("\n"));
      break;
    }
    default:
      socket.close(1000);
  }
};

server.on("upgrade", (request, connection, head) => {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname === "/refuse") {
    connection.end("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nmembers only\n");
    return;
  }
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: compression(url),
    maxPayload: 64 << 20,
    handleProtocols: (offered) => ["chat.v2", "chat.v1"].find((name) => offered.has(name)) ?? false,
  });
  sockets.handleUpgrade(request, connection, head, (socket) => {
    socket.on("error", () => {});
    serve(socket, request, url);
  });
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
