// SPDX-License-Identifier: MIT

/// The fixed parts of a page: its elements, its style and its script. They contain no data.
enum ReportFrame {
    static let markup = """
        <header>
        <h1 id="title"></h1>
        <p id="summary" role="status"></p>
        <form id="filters" role="search" aria-label="Filters">
        <label>Search <input id="text" type="search" placeholder="URL, method, reason… ( / )" autocomplete="off"></label>
        <label>Status <select id="status"><option value="">all</option><option value="1">1xx</option>\
        <option value="2">2xx</option><option value="3">3xx</option><option value="4">4xx</option>\
        <option value="5">5xx</option><option value="0">no response</option></select></label>
        <label>Route <select id="route"><option value="">all</option></select></label>
        <label class="check"><input id="failures" type="checkbox"> Failures only</label>
        <label>Time axis <select id="axis"><option value="call">from the start of each call</option>\
        <option value="all">of the whole recording</option></select></label>
        </form>
        <ul id="legend" aria-label="Colours of the phases"></ul>
        <div id="notes"></div>
        </header>
        <main>
        <section id="overview" aria-label="Calls and requests">
        <div id="columns" aria-hidden="true"><span>Status</span><span>Method</span><span>URL</span>\
        <span class="right">Size</span><span class="right">Time</span><span id="ticks"></span></div>
        <div id="list" role="listbox" tabindex="0" aria-label="Calls and requests"><div id="rows"></div></div>
        <p id="none" hidden>No call matches the filters.</p>
        </section>
        <aside id="details" tabindex="-1" aria-label="Details of the selection" hidden></aside>
        </main>
        <noscript>This page needs its own script to show the data that it contains.</noscript>
        """

    static let style = """
        :root { color-scheme: light dark; --bg: #ffffff; --panel: #f6f7f9; --line: #dfe3e8; --text: #1b1f24;
          --soft: #5b6470; --accent: #0b5cad; --select: #dcebfa; --bad: #b3261e; --badbg: #fdecea; --good: #1a6e3c;
          --warn: #8a5300; --track: #eceff3;
          --queue: #9aa3ad; --dns: #56b4e9; --connect: #e69f00; --ssl: #cc79a7; --send: #f0e442; --wait: #009e73;
          --receive: #0072b2; }
        @media (prefers-color-scheme: dark) { :root { --bg: #14171b; --panel: #1b1f25; --line: #2e343c;
          --text: #e6e9ed; --soft: #9ba5b1; --accent: #7db8f5; --select: #1f3650; --bad: #ff8a80; --badbg: #3a1d1c;
          --good: #7bd49b; --warn: #f0b95b; --track: #20252c; --queue: #77818c; --receive: #3d9be0; } }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--bg); color: var(--text);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif; }
        header { padding: 12px 20px 8px; border-bottom: 1px solid var(--line); }
        h1 { display: inline; font-size: 17px; font-weight: 650; margin: 0 14px 0 0; }
        #summary { display: inline; margin: 0; color: var(--soft); }
        #filters { display: flex; flex-wrap: wrap; gap: 8px 18px; margin: 10px 0 8px; align-items: center; }
        label { color: var(--soft); display: inline-flex; align-items: center; gap: 6px; }
        input, select, button { font: inherit; color: var(--text); background: var(--bg);
          border: 1px solid var(--line); border-radius: 6px; padding: 3px 8px; }
        input[type=search] { width: 19em; }
        select { max-width: 17em; }
        input[type=checkbox] { accent-color: var(--accent); margin: 0; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        #legend { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 0; padding: 0;
          color: var(--soft); font-size: 12.5px; }
        #legend li { display: flex; align-items: center; gap: 6px; }
        .swatch { width: 12px; height: 10px; border-radius: 2px; display: inline-block; flex: none; }
        #notes p { margin: 6px 0 0; color: var(--warn); }
        main { flex: 1; min-height: 0; display: flex; }
        #overview { flex: 1; min-width: 0; display: flex; flex-direction: column; }
        #columns, .row { display: grid; align-items: center; column-gap: 12px; padding: 0 20px;
          grid-template-columns: 62px 66px minmax(140px, 1.15fr) 68px 72px minmax(150px, 1fr); }
        #columns { height: 30px; border-bottom: 1px solid var(--line); color: var(--soft); font-size: 12px;
          padding-right: 32px; }
        .right { text-align: right; }
        #ticks { position: relative; height: 100%; font-variant-numeric: tabular-nums; }
        #ticks span { position: absolute; top: 6px; transform: translateX(-50%); white-space: nowrap; }
        #ticks span:first-child { transform: none; } #ticks span:last-child { transform: translateX(-100%); }
        #list { flex: 1; overflow-y: scroll; position: relative; }
        #list:focus-visible { outline: none; }
        #list:focus-visible .row[aria-selected=true] { box-shadow: inset 0 0 0 2px var(--accent); }
        #rows { position: relative; }
        .row { position: absolute; left: 0; right: 0; height: 30px; cursor: default; border-bottom: 1px solid var(--bg); }
        .row:hover { background: var(--panel); }
        .row[aria-selected=true] { background: var(--select); box-shadow: inset 3px 0 0 var(--accent); }
        .row span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
        .url { unicode-bidi: isolate; }
        .host, .route, .kind { color: var(--soft); }
        .route { margin-left: 8px; font-size: 12px; }
        .child .url { padding-left: 18px; }
        .number { text-align: right; font-variant-numeric: tabular-nums; color: var(--soft); }
        .status { font-variant-numeric: tabular-nums; font-weight: 600; }
        .s2 { color: var(--good); } .s3 { color: var(--accent); } .s4 { color: var(--warn); } .s5, .s0 { color: var(--bad); }
        .bar { position: relative; height: 14px; background: var(--track); border-radius: 3px; }
        .row .bar { overflow: hidden; }
        .bar i { position: absolute; top: 2px; bottom: 2px; min-width: 1px; }
        .bar .whole { top: 6px; bottom: 6px; background: var(--soft); opacity: .5; border-radius: 1px; }
        .bar .mark { top: 0; bottom: 0; width: 3px; background: var(--text); border-radius: 1px; opacity: .75; }
        .bar .failed { background: repeating-linear-gradient(135deg, var(--bad) 0 3px, transparent 3px 6px); }
        #none { padding: 24px; color: var(--soft); }
        #details { width: 44%; min-width: 340px; overflow-y: auto; border-left: 1px solid var(--line);
          background: var(--panel); padding: 14px 20px 40px; }
        #details:focus { outline: none; }
        #details h2 { font-size: 15px; margin: 0 36px 4px 0; overflow-wrap: anywhere; font-weight: 600; }
        #details h3 { font-size: 12px; font-weight: 650; letter-spacing: .02em; margin: 20px 0 6px; color: var(--soft);
          text-transform: uppercase; }
        #details p { margin: 2px 0; overflow-wrap: anywhere; }
        .result { font-weight: 600; }
        .bad { color: var(--bad); }
        .why { list-style: none; margin: 0; padding: 0; }
        .why li { display: grid; grid-template-columns: 74px 1fr; gap: 10px; padding: 3px 0;
          border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .why time { color: var(--soft); text-align: right; font-variant-numeric: tabular-nums; }
        .why .request { font-weight: 600; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: 2px 10px 2px 0; font-weight: 400;
          overflow-wrap: anywhere; unicode-bidi: isolate; }
        th { color: var(--soft); width: 32%; font-size: 13px; }
        td.wide { width: 45%; } td.wide .bar { background: var(--bg); }
        pre { margin: 4px 0; padding: 10px 12px; background: var(--bg); border: 1px solid var(--line);
          border-radius: 6px; overflow: auto; max-height: 26em; white-space: pre-wrap; overflow-wrap: anywhere; }
        pre, td, .url, h2 { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono",
          monospace; font-size: 12.5px; }
        #details h2 { font-size: 13.5px; }
        .close { float: right; }
        button { cursor: pointer; } button:hover { border-color: var(--accent); }
        @media (max-width: 900px) { main { flex-direction: column; } #details { width: auto; border-left: 0;
          border-top: 1px solid var(--line); min-width: 0; } #overview, #details { flex: 1 1 50%; min-height: 0; }
          #columns, .row { grid-template-columns: 48px 56px minmax(100px, 1fr) 60px minmax(80px, .8fr); padding: 0 10px; }
          #columns > :nth-child(4), .row > :nth-child(4) { display: none; } }
        @media print { main { display: block; } #details { width: auto; } }
        """

    static let script = reading + drawing + showing + running
}
