// SPDX-License-Identifier: MIT

extension ReportFrame {
    /// The part of the script that shows the details of a call or a request.
    static let showing = #"""
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

        """#

    /// The part of the script that starts the page, and receives input.
    static let running = #"""
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
        """#
}
