// SPDX-License-Identifier: MIT
"use strict";
const $ = (id) => document.getElementById(id);
const raw = JSON.parse($("data").textContent) || { texts: [], entries: [], bodies: [], notes: [] };
const textOf = (n) => n < 0 ? "" : raw.texts[n];
const PHASES = [["queue", "queued", 0], ["dns", "name lookup", 1], ["connect", "connecting", 2],
  ["ssl", "TLS", 3], ["send", "sending", 4], ["wait", "waiting", 5], ["receive", "receiving", 6]];

// Creates an element. Text is always set as text, so data cannot become markup.
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const key in attributes || {}) {
    if (key === "class") element.className = attributes[key];
    else if (key === "style") Object.assign(element.style, attributes[key]);
    else element.setAttribute(key, attributes[key]);
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child.nodeType ? child : document.createTextNode(String(child)));
  }
  return element;
}

// Shows characters that would move or hide text: controls, and marks of direction.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const shown = (text) => String(text).replace(HIDDEN,
  (c) => "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}");

const fieldsOf = (list) => {
  const fields = [];
  for (let i = 0; i < list.length; i += 2) fields.push([textOf(list[i]), textOf(list[i + 1])]);
  return fields;
};

function duration(ms) {
  if (ms === null || ms === undefined || ms < 0) return "";
  if (ms === 0) return "0";
  // Each limit is that of the rounded text: 59.96 s is 1 min 0 s.
  if (ms < 0.9995) return Math.round(ms * 1000) + " µs";
  if (ms < 9.95) return ms.toFixed(1) + " ms";
  if (ms < 999.5) return Math.round(ms) + " ms";
  if (ms < 59950) return (ms / 1000).toFixed(ms < 9995 ? 2 : 1) + " s";
  const seconds = Math.round(ms / 1000);
  return Math.floor(seconds / 60) + " min " + seconds % 60 + " s";
}
function size(bytes) {
  if (bytes < 0) return "";
  if (bytes < 1000) return bytes + " B";
  for (const unit of ["kB", "MB", "GB"]) {
    bytes /= 1000;
    if (bytes < 999.5 || unit === "GB") return bytes.toFixed(bytes < 9.95 ? 1 : 0) + " " + unit;
  }
}

function requestOf(entry, index) {
  const [start, method, url, status, reason, version, timings, time, sent, received, sizes, error, place,
    comment, facts] = entry;
  const request = { index, start, method: textOf(method), url: textOf(url), status, reason: textOf(reason),
    version: textOf(version), timings, time, sent, received, requestSize: sizes[0], contentSize: sizes[1],
    bodySize: sizes[2], transferSize: sizes[3], error: textOf(error), address: textOf(place[0]),
    connection: textOf(place[1]), comment: textOf(comment), number: 1, attempt: 1, hop: 0, offset: 0,
    decisions: [], interim: [], trailers: [], route: "", total: -1 };
  const parts = /^([a-z]+:\/\/[^\/?#]*)(.*)$/i.exec(request.url);
  request.host = parts ? parts[1] : "";
  request.path = parts ? parts[2] || "/" : request.url;
  if (facts) {
    request.call = facts[0]; request.route = textOf(facts[1]); request.attempt = facts[2];
    request.hop = facts[3]; request.number = facts[4]; request.offset = Math.max(0, facts[5]);
    request.total = facts[6]; request.callTime = facts[7]; request.outcome = textOf(facts[8]);
    request.failed = facts[9]; request.bytesSent = facts[10]; request.bytesReceived = facts[11];
    request.reused = facts[12]; request.local = textOf(facts[13]); request.tls = textOf(facts[14]);
    request.decisions = facts[15].map(([time, name, text]) =>
      ({ time, name: textOf(name), text: textOf(text) }));
    request.interim = facts[16]; request.trailers = facts[17];
  } else {
    request.call = "entry " + index; request.callTime = time; request.outcome = "";
    request.failed = status === 0 || status >= 400;
  }
  return request;
}

const calls = [];
const callsByNumber = new Map();
raw.entries.forEach((entry, index) => {
  const request = requestOf(entry, index);
  let call = callsByNumber.get(request.call);
  if (!call) {
    call = { name: request.call, requests: [], route: request.route, start: request.start - request.offset,
      time: 0, outcome: request.outcome, failed: request.failed === true };
    callsByNumber.set(request.call, call);
    calls.push(call);
  }
  request.owner = call;
  call.requests.push(request);
  call.start = Math.min(call.start, request.start - request.offset);
  call.time = Math.max(call.time, request.callTime, request.offset + request.time);
});
calls.sort((a, b) => a.start - b.start);
for (const call of calls) call.requests.sort((a, b) => a.offset - b.offset || a.number - b.number);
const hosts = new Set(calls.flatMap((call) => call.requests.map((r) => r.host)));
const onlyHost = hosts.size === 1 ? [...hosts][0] : "";
const origin = calls.length ? calls[0].start : 0;

function haystack(call) {
  if (call.haystack === undefined) {
    call.haystack = call.requests.map((r) => [r.method, r.url, r.status || "", r.error, r.comment, r.route,
      r.decisions.map((d) => d.text).join(" ")].join(" ")).join(" ").concat(" ", call.outcome).toLowerCase();
  }
  return call.haystack;
}
const ROW = 30;
const list = $("list"), rowsBox = $("rows"), details = $("details");
let rows = [], selected = -1, axisStart = 0, axisLength = 1, perCall = true, drawn = "";

function filter() {
  const words = $("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const status = $("status").value, route = $("route").value, failures = $("failures").checked;
  const kept = selected >= 0 ? rows[selected] : null;
  rows = [];
  let last = 0, longest = 0, callCount = 0, requestCount = 0;
  for (const call of calls) {
    if (failures && !call.failed && !call.requests.some((r) => r.error)) continue;
    if (route !== "" && call.route !== route) continue;
    if (status !== "" && !call.requests.some((r) => Math.floor(r.status / 100) === Number(status))) continue;
    if (words.length && !words.every((word) => haystack(call).includes(word))) continue;
    callCount += 1;
    requestCount += call.requests.length;
    const single = call.requests.length === 1;
    rows.push({ call, request: single ? call.requests[0] : null });
    if (!single) for (const request of call.requests) rows.push({ call, request, child: true });
    longest = Math.max(longest, call.time);
    last = Math.max(last, call.start - origin + call.time);
  }
  perCall = $("axis").value === "call";
  axisStart = 0;
  axisLength = Math.max(perCall ? longest : last, 0.001);
  selected = kept ? rows.findIndex((r) => r.call === kept.call && r.request === kept.request) : -1;
  rowsBox.style.height = rows.length * ROW + "px";
  $("none").hidden = rows.length > 0;
  list.hidden = rows.length === 0;
  summary(callCount, requestCount);
  ticks();
  drawn = "";
  draw();
  if (kept && selected < 0) hideDetails();
}

function summary(callCount, requestCount) {
  let failed = 0, bytes = 0;
  for (const call of calls) {
    if (call.failed) failed += 1;
    for (const r of call.requests) bytes += Math.max(0, r.transferSize, r.transferSize < 0 ? r.bodySize : 0);
  }
  const requests = raw.entries.filter((e) => !e[14] || e[14][4] !== 0).length;
  const whole = callCount === calls.length;
  const count = (n, word) => n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");
  $("summary").textContent = (whole ? "" : count(callCount, "call") + " shown of ") +
    [count(calls.length, "call"), count(requests, "request"), failed + " failed", size(bytes) + " received",
      onlyHost, calls.length ? "from " + new Date(origin).toLocaleString("en-GB") : ""].filter(Boolean).join(" · ");
}

// Marks round times on the axis, as many as have room.
function ticks() {
  const most = Math.max(1, Math.min(6, Math.floor($("ticks").clientWidth / 75)));
  const rough = axisLength / most, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  $("ticks").replaceChildren();
  for (let at = 0; at <= axisLength * 0.93; at += step) {
    $("ticks").append(make("span", { style: { left: at / axisLength * 100 + "%" } },
      at === 0 ? "0" : duration(at)));
  }
}

const percent = (ms) => Math.max(0, Math.min(100, ms / axisLength * 100));
function segment(kind, from, length, title) {
  const style = { left: percent(from) + "%", width: percent(Math.min(length, axisLength - from)) + "%" };
  if (kind !== "whole" && kind !== "failed") style.background = "var(--" + kind + ")";
  return make("i", { class: kind, style, title: title || "" });
}

// Returns the phases of a request, with their starts. The time of TLS is a part of that of connecting.
function phasesOf(request) {
  const [queue, dns, connect, ssl, send, wait, receive] = request.timings;
  const connecting = connect < 0 ? -1 : Math.max(0, connect - Math.max(0, ssl));
  let at = 0;
  return [queue, dns, connecting, ssl, send, wait, receive].map((time, i) => {
    const phase = { kind: PHASES[i][0], name: PHASES[i][1], start: at, time };
    at += Math.max(0, time);
    return phase;
  });
}

function bar(row) {
  const box = make("span", { class: "bar" });
  const shift = perCall ? 0 : row.call.start - origin;
  const requests = row.request ? [row.request] : row.call.requests;
  if (!row.child) box.append(segment("whole", shift, row.call.time));
  for (const request of requests) {
    const start = shift + request.offset;
    const phases = phasesOf(request).filter((p) => p.time > 0);
    for (const p of phases) box.append(segment(p.kind, start + p.start, p.time));
    if (request.error) {
      const end = phases.reduce((sum, p) => sum + p.time, 0);
      const length = Math.max(request.total, request.time, axisLength / 120) - end;
      box.append(segment("failed", start + end, Math.max(length, axisLength / 120)));
    }
    if (!row.child || row.request) {
      for (const d of request.decisions) {
        box.append(make("i", { class: "mark", style: { left: "calc(" + percent(shift + d.time) + "% - 1px)" } }));
      }
    }
  }
  return box;
}

function statusText(row) {
  const request = row.request || row.call.requests[row.call.requests.length - 1];
  if (!row.request && row.call.failed) return ["failed", "s0"];
  if (request.status === 0) return [request.error ? "failed" : "…", "s0"];
  return [String(request.status), "s" + Math.floor(request.status / 100)];
}

function rowElement(row, index) {
  const first = row.request || row.call.requests[0];
  const [status, kind] = statusText(row);
  const url = make("span", { class: "url", title: shown(first.url) });
  if (row.child) {
    const labels = [row.request.hop > 0 ? "redirect " + row.request.hop : "",
      "attempt " + row.request.attempt].filter(Boolean);
    url.append(make("span", { class: "kind" }, labels.join(", ") + "  "));
  }
  if (first.host !== onlyHost) {
    url.append(make("span", { class: "host" }, shown(first.host.replace(/^https?:\/\//, ""))));
  }
  url.append(shown(first.path));
  if (row.call.route && !row.child) url.append(make("span", { class: "route" }, shown(row.call.route)));
  if (!row.request) url.append(make("span", { class: "route" }, row.call.requests.length + " requests"));
  if (first.number === 0) url.append(make("span", { class: "route" }, "not sent"));
  const bytes = (row.request ? [row.request] : row.call.requests).reduce((sum, r) =>
    sum + Math.max(0, r.contentSize >= 0 ? r.contentSize : r.transferSize), 0);
  const time = row.child ? (row.request.total >= 0 ? row.request.total : row.request.time) : row.call.time;
  return make("div", { class: "row" + (row.child ? " child" : ""), role: "option", id: "row" + index,
    "aria-selected": index === selected, "aria-setsize": rows.length, "aria-posinset": index + 1,
    "aria-label": [status, shown(first.method), shown(first.url), duration(time)].join(", "),
    style: { top: index * ROW + "px" } },
    make("span", { class: "status " + kind }, status), make("span", {}, shown(first.method)), url,
    make("span", { class: "number" }, bytes ? size(bytes) : ""), make("span", { class: "number" }, duration(time)), bar(row));
}

function draw() {
  const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 8);
  const to = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 8);
  const state = from + "-" + to + "-" + selected;
  if (state === drawn) return;
  drawn = state;
  const elements = [];
  for (let i = from; i < to; i += 1) elements.push(rowElement(rows[i], i));
  rowsBox.replaceChildren(...elements);
  if (selected >= from && selected < to) list.setAttribute("aria-activedescendant", "row" + selected);
  else list.removeAttribute("aria-activedescendant");
}

function select(index, reveals) {
  if (!rows.length) return;
  selected = Math.max(0, Math.min(rows.length - 1, index));
  // The details may take a part of the list's room.
  showDetails(rows[selected]);
  const top = selected * ROW;
  if (reveals && top < list.scrollTop) list.scrollTop = top;
  if (reveals && top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  draw();
}
const heading = (text) => make("h3", {}, text);
function table(pairs) {
  const body = make("tbody");
  for (const [name, value] of pairs) {
    if (value === "" || value === null || value === undefined) continue;
    body.append(make("tr", {}, make("th", { scope: "row" }, shown(name)), make("td", {}, shown(value))));
  }
  return make("table", {}, body);
}

function hideDetails() {
  details.hidden = true;
  details.replaceChildren();
}

function showDetails(row) {
  const { call, request } = row;
  const first = request || call.requests[0];
  const close = make("button", { class: "close", "aria-label": "Close the details" }, "✕");
  close.addEventListener("click", () => { hideDetails(); list.focus(); draw(); });
  details.replaceChildren(close, make("h2", {}, shown(first.method) + " " + shown(first.url)));
  details.hidden = false;
  details.scrollTop = 0;
  const start = new Date(call.start + (request ? request.offset : 0));
  const about = [call.route ? shown(call.route) : "", "call " + call.name, request && row.child
    ? "attempt " + request.attempt + (request.hop ? ", redirect " + request.hop : "") : "",
    isNaN(start) ? "" : start.toISOString().replace("T", " ").replace("Z", " UTC")].filter(Boolean);
  details.append(make("p", { class: "host" }, about.join(" · ")));
  if (request && (request.status || request.error)) {
    details.append(make("p", { class: "result" + (request.error ? " bad" : "") }, request.status
      ? [request.version, request.status, shown(request.reason)].join(" ").trim() : "", request.status &&
      request.error ? ", then " : "", shown(request.error)));
  }
  if (!row.child && call.outcome) {
    details.append(make("p", { class: call.failed ? "bad" : "" }, "Outcome of the call: " +
      shown(call.outcome) + (call.time ? ", after " + duration(call.time) : "")));
  }
  if (!row.child) details.append(...why(call));
  if (request) details.append(...requestDetails(request));
}

// The story of the call in order: what was sent, what came back, and what was decided.
function why(call) {
  const items = [];
  for (const r of call.requests) {
    if (r.number === 0) {
      items.push([r.offset, "request", "No request was sent for " + r.method + " " + r.url]);
    } else {
      const label = r.number === 1 ? "" : " (attempt " + r.attempt + (r.hop ? ", redirect " + r.hop : "") + ")";
      items.push([r.offset, "request", r.method + " " + r.url + " was sent" + label]);
      const head = r.time - Math.max(0, r.timings[6]);
      const end = r.offset + (r.error ? Math.max(r.total, r.time, 0) : Math.max(0, head));
      if (r.error) items.push([end, "bad", "It failed: " + r.error]);
      else if (r.status) items.push([end, "", "The response was " + r.status + " " + r.reason]);
    }
    for (const d of r.decisions) items.push([d.time, "", sentence(d)]);
  }
  if (items.length < 3 && !call.requests.some((r) => r.decisions.length)) return [];
  items.sort((a, b) => a[0] - b[0]);
  return [heading("What happened, and why"), make("ol", { class: "why" }, ...items.map(([time, kind, text]) =>
    make("li", {}, make("time", {}, duration(time)), make("span", { class: kind }, shown(text)))))];
}

const SUBJECTS = { cache: "Cache", redirect: "Redirect", policy: "Policy", token: "Credential",
  cookies: "Cookies", joined: "Sharing", warning: "Warning" };
function sentence(decision) {
  const kind = decision.name.split(".")[0], first = decision.text.slice(0, 1).toUpperCase();
  const subject = Object.hasOwn(SUBJECTS, kind) ? SUBJECTS[kind] : "";
  const text = subject ? subject + ": " + decision.text : first + decision.text.slice(1);
  return /[.!?]$/.test(text) ? text : text + ".";
}

function requestDetails(r) {
  const parts = [heading("Timing")], longest = Math.max(0.001, r.time);
  const body = make("tbody");
  for (const phase of phasesOf(r)) {
    if (phase.time <= 0) continue;
    body.append(make("tr", {}, make("th", { scope: "row" }, phase.name), make("td", {}, duration(phase.time)),
      make("td", { class: "wide" }, make("div", { class: "bar" }, make("i", { style: {
        left: phase.start / longest * 100 + "%", width: phase.time / longest * 100 + "%",
        background: "var(--" + phase.kind + ")" } })))));
  }
  if (r.total >= 0) {
    body.append(make("tr", {}, make("th", { scope: "row" }, "exchange"), make("td", {}, duration(r.total)),
      make("td")));
  }
  if (body.childNodes.length) parts.push(make("table", {}, body));
  else parts.push(make("p", { class: "host" }, "No times were measured."));
  parts.push(heading("Request"));
  parts.push(table(fieldsOf(r.sent)));
  parts.push(...bodyDetails(raw.bodies[r.index] && raw.bodies[r.index][0], r.requestSize));
  parts.push(heading("Response"));
  for (const [time, status, fields] of r.interim) {
    parts.push(make("p", {}, status + " after " + duration(time)), table(fieldsOf(fields)));
  }
  parts.push(table(fieldsOf(r.received)));
  parts.push(...bodyDetails(raw.bodies[r.index] && raw.bodies[r.index][1], r.contentSize));
  if (r.trailers.length) parts.push(heading("Trailers"), table(fieldsOf(r.trailers)));
  const reuse = r.reused === true ? " (reused)" : r.reused === false ? " (new)" : "";
  const pairs = [["connection", r.connection ? r.connection + reuse : reuse.trim()], ["server", r.address],
    ["local address", r.local || ""], ["TLS", r.tls || ""], ["sent", size(r.bytesSent ?? -1)],
    ["received", size(r.transferSize)], ["decoded body", size(r.contentSize)]];
  if (pairs.some((pair) => pair[1])) parts.push(heading("Connection and sizes"), table(pairs));
  const copy = make("button", {}, "Copy"), command = make("pre", {}, curl(r));
  copy.addEventListener("click", () => copyText(command, copy));
  parts.push(heading("curl command"), command, copy);
  if (r.comment) parts.push(heading("Remark"), make("p", {}, shown(r.comment)));
  return parts;
}

function bodyDetails(body, length) {
  if (!body) return length > 0 ? [make("p", { class: "host" }, "Body of " + size(length) + ", not recorded.")] : [];
  const [text, type, isEncoded, comment] = body;
  const parts = [];
  if (comment >= 0) parts.push(make("p", { class: "host" }, shown(textOf(comment))));
  if (text < 0) return parts;
  if (isEncoded) parts.push(make("p", { class: "host" }, "Binary body, in Base64:"));
  parts.push(make("pre", { tabindex: "0", "aria-label": "Body" }, shown(pretty(textOf(text), textOf(type)))));
  return parts;
}

// Indents JSON by its text, so that long numbers and repeated names stay as they were sent.
function pretty(text, type) {
  if (!/json/i.test(type) && !/^\s*[\[{]/.test(text)) return text;
  try { JSON.parse(text); } catch { return text; }
  let depth = 0, result = "";
  // The indentation of deeper text would have many times the size of the text.
  const deepest = 64;
  const line = () => "\n" + "  ".repeat(depth);
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+/g) || [];
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i];
    if (token === "{" || token === "[") {
      if (tokens[i + 1] === "}" || tokens[i + 1] === "]") { result += token + tokens[i += 1]; continue; }
      depth += 1;
      if (depth > deepest) return text;
      result += token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      result += line() + token;
    } else result += token === "," ? "," + line() : token === ":" ? ": " : token;
  }
  return result;
}

// A word that a POSIX shell reads back as the text: see ShellWord in the sources of Curlew.
function quoted(text) {
  let word = "", part = "", hasLine = false;
  const enter = (next, piece) => {
    if (next !== part) {
      word += { "": "", "'": "'", "$": "')\"" }[part] + { "": "", "'": "'", "$": "\"$(printf '" }[next];
      part = next;
    }
    word += piece;
  };
  const active = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
  for (const c of text) {
    if (c === "'") enter("", "\\'");
    else if (active.test(c) || (hasLine && (c === "!" || c === "^"))) {
      enter("$", [...new TextEncoder().encode(c)].map((b) => "\\" + b.toString(8).padStart(3, "0")).join(""));
    } else enter("'", c);
    hasLine = hasLine || c === "\n";
  }
  enter("", "");
  return word || "''";
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const OWN = /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|content-length|:.*)$/i;
function curl(r) {
  const body = raw.bodies[r.index] && raw.bodies[r.index][0];
  const hasBody = body && body[0] >= 0 && !body[2];
  const fields = fieldsOf(r.sent).filter(([name]) => !OWN.test(name));
  // Other text would be an option of curl, or would let it read a file.
  if (!/^https?:\/\/[^\s\/]/i.test(r.url)) return "# No command: the URL is not one of HTTP.";
  if (!TOKEN.test(r.method) || !fields.every(([name]) => TOKEN.test(name))) {
    return "# No command: the method or the name of a field is invalid.";
  }
  if ([r.method, r.url, hasBody ? textOf(body[0]) : ""].concat(...fields).some((t) => t.includes("\0"))) {
    return "# No command: a part contains a NUL byte, which an argument cannot.";
  }
  const lines = [];
  if (r.method === "HEAD" && !hasBody) lines.push("--head");
  else if (r.method !== "GET" || hasBody) lines.push("--request " + quoted(r.method));
  for (const [name, value] of fields) {
    lines.push("--header " + quoted(value === "" ? name + ";" : name + ": " + value));
  }
  if (hasBody && !fields.some(([name]) => /^content-type$/i.test(name))) lines.push("--header 'Content-Type:'");
  if (hasBody) lines.push("--data-raw " + quoted(textOf(body[0])));
  if (/[\[\]{}]/.test(r.url)) lines.push("--globoff");
  lines.push(quoted(r.url));
  const isMissing = !hasBody && r.requestSize !== 0 && (r.requestSize > 0 || body);
  return (isMissing ? "# The body is omitted.\n" : "") + "curl " + lines.join(" \\\n    ");
}

function copyText(element, button) {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
  if (navigator.clipboard) navigator.clipboard.writeText(element.textContent).then(done, () => {});
  else if (document.execCommand("copy")) done();
}
$("title").textContent = document.title;
for (const [kind, name] of PHASES) {
  $("legend").append(make("li", {}, make("span", { class: "swatch", style: {
    background: "var(--" + kind + ")" } }), name));
}
$("legend").append(
  make("li", {}, make("span", { class: "swatch", style: { background: "var(--soft)", height: "2px" } }),
    "the whole call, with waits"),
  make("li", {}, make("span", { class: "swatch", style: { background: "var(--text)", width: "3px" } }),
    "a decision"),
  make("li", {}, make("span", { class: "swatch", style: { background:
    "repeating-linear-gradient(135deg, var(--bad) 0 3px, transparent 3px 6px)" } }), "failed"));
for (const note of raw.notes) $("notes").append(make("p", {}, shown(note)));
for (const route of [...new Set(calls.map((call) => call.route))].filter(Boolean).sort()) {
  $("route").append(make("option", { value: route }, shown(route)));
}
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").addEventListener("input", filter);
list.addEventListener("scroll", draw);
new ResizeObserver(() => { drawn = ""; ticks(); draw(); }).observe(list);
rowsBox.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row) select(Number(row.id.slice(3)), false);
});
list.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
  const moves = { ArrowDown: selected + 1, ArrowUp: Math.max(0, selected - 1), PageDown: selected + page,
    PageUp: selected - page, Home: 0, End: rows.length - 1 };
  if (event.key in moves) select(moves[event.key], true);
  else if (event.key === "Enter" && selected >= 0) { showDetails(rows[selected]); details.focus(); }
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping) { $("text").focus(); $("text").select(); event.preventDefault(); }
  if (event.key === "Escape") {
    if (event.target === $("text") && $("text").value) { $("text").value = ""; filter(); }
    else if (!details.contains(event.target)) { hideDetails(); draw(); }
    list.focus();
  }
});
filter();
list.focus();
const link = /^#row-(\d+)$/.exec(location.hash);
if (link) select(Number(link[1]) - 1, true);
