// SPDX-License-Identifier: MIT

// One client under load: Node's fetch. Prints a sample as JSON.
//
//     node fetch.mjs WIDTH SECONDS URL WORK
//
// Its pool opens as many connections as there are calls in flight, without a limit of its own.

import fs from "node:fs";
import path from "node:path";

class User {
  constructor(value) {
    this.id = value.id;
    this.firstName = value.firstName;
    this.lastName = value.lastName;
    this.email = value.email;
    this.age = value.age;
    this.isActive = value.isActive;
  }
}

const cpuMicroseconds = () => {
  const usage = process.cpuUsage();
  return usage.user + usage.system;
};

/** Megabytes, from the system's list of facts; zero where there is none. */
const resident = (name) => {
  try {
    const line = fs.readFileSync("/proc/self/status", "utf8").split("\n").find((line) => line.startsWith(name));
    return Number(line.split(/\s+/)[1]) / 1024;
  } catch {
    return 0;
  }
};

const get = async (url) => {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return response;
};

const typed = async (url) => {
  const user = new User(await (await get(url)).json());
  if (user.id !== 1) throw new Error("wrong answer");
};

const whole = async (url, size) => {
  if ((await (await get(url)).arrayBuffer()).byteLength !== size) throw new Error("wrong answer");
};

const download = async (url, file) => {
  fs.rmSync(file, { force: true });
  const descriptor = fs.openSync(file, "w");
  try {
    for await (const chunk of (await get(url)).body) fs.writeSync(descriptor, chunk);
  } finally {
    fs.closeSync(descriptor);
  }
};

const upload = async (url, file) => {
  const body = fs.createReadStream(file, { highWaterMark: 256 << 10 });
  const headers = { "Content-Length": String(fs.statSync(file).size) };
  const response = await fetch(url, { method: "PUT", body, duplex: "half", headers });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`status ${response.status}`);
};

/** `width` lanes call one after the other until the time is over. Gives microseconds. */
const load = async (call, width, seconds) => {
  const latencies = [];
  const end = performance.now() + seconds * 1000;
  const lane = async () => {
    for (;;) {
      const before = performance.now();
      if (before >= end) return;
      await call();
      latencies.push((performance.now() - before) * 1000);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return latencies;
};

const report = (count, seconds, cpu, latencies, before) => {
  latencies.sort((a, b) => a - b);
  const quantile = (part) => latencies[Math.floor(part * (latencies.length - 1))] ?? 0;
  const peak = resident("VmHWM:");
  console.log(JSON.stringify({
    requestsPerSecond: count / seconds, cpuMicroseconds: cpu / Math.max(1, count), median: quantile(0.5),
    p99: quantile(0.99), peakMegabytes: peak, growthMegabytes: peak - before,
  }));
};

/** Runs `action` and reports what it cost; it gives its latencies, or nothing if it is one transfer. */
const measure = async (action) => {
  const before = resident("VmRSS:");
  const cpu = cpuMicroseconds();
  const start = performance.now();
  const latencies = await action();
  const seconds = (performance.now() - start) / 1000;
  report(latencies?.length ?? 1, seconds, cpuMicroseconds() - cpu, latencies ?? [], before);
};

const main = async (width, seconds, url, work) => {
  const [kind, size, ...rest] = work.split(":");
  const file = rest.join(":");
  const small = `${1 << 20}.bin`;
  if (kind === "download") {
    for (let i = 0; i < 3; i++) await download(url.replace(`${size}.bin`, small), file);
    await measure(() => download(url, file));
  } else if (kind === "upload") {
    for (let i = 0; i < 3; i++) await upload(url, path.join(path.dirname(file), small));
    await measure(() => upload(url, file));
  } else {
    const call = kind === "bytes" ? () => whole(url, Number(size)) : () => typed(url);
    // Long enough for the compiler to have seen the code.
    await load(call, width, Math.min(1, seconds / 4));
    await measure(() => load(call, width, seconds));
  }
};

if (process.argv[2] === "version") {
  console.log(`Node ${process.version}`);
} else {
  const [width, seconds, url, work] = process.argv.slice(2);
  await main(Number(width), Number(seconds), url, work);
  process.exit(0);
}
