// SPDX-License-Identifier: MIT

extension ReportFrame {
    /// The part of the script that draws the list, of which only the rows in sight exist.
    static let drawing = #"""
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

        """#
}
