// SPDX-License-Identifier: MIT

// One WebSocket of Node: sends messages of SIZE bytes, DEPTH at a time, to an echo for SECONDS, and prints a sample as
// JSON.
//
//     node websocket_client.mjs CLIENT PORT SIZE DEPTH SECONDS
//
// CLIENT is "ws", the package of that name, or "builtin", the WebSocket of Node itself.

import { createRequire } from "node:module";

const [client, port, size, depth, seconds] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const message = new Uint8Array(size);
let [count, start, cpu, target] = [0, 0, undefined, 0];

const begin = (send) => {
  [start, cpu] = [performance.now(), process.cpuUsage()];
  target = start + seconds * 1000;
  for (let index = 0; index < depth; index += 1) send(message);
};

const receive = (length, send) => {
  if (length !== size) throw new Error("wrong answer");
  count += 1;
  if (target && count % 16 === 0 && performance.now() >= target) {
    target = 0;
    const used = process.cpuUsage(cpu);
    const sample = {
      messages: count, seconds: (performance.now() - start) / 1000, cpu: (used.user + used.system) / 1e6,
    };
    process.stdout.write(`${JSON.stringify(sample)}\n`, () => process.exit(0));
    return;
  }
  send(message);
};

const url = `ws://127.0.0.1:${port}/`;
if (client === "ws") {
  const { WebSocket } = createRequire(import.meta.url)("/usr/share/nodejs/ws");
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const send = (data) => socket.send(data);
  socket.on("open", () => begin(send));
  socket.on("message", (data) => receive(data.length, send));
} else {
  const socket = new globalThis.WebSocket(url);
  socket.binaryType = "arraybuffer";
  const send = (data) => socket.send(data);
  socket.addEventListener("open", () => begin(send));
  socket.addEventListener("message", (event) => receive(event.data.byteLength, send));
}
