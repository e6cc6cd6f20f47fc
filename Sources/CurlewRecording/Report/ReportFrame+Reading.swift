// SPDX-License-Identifier: MIT

extension ReportFrame {
    /// The part of the script that reads the data into calls and requests, and formats values.
    static let reading = #"""
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

        """#
}
