# SPDX-License-Identifier: MIT
"""Draws the chart of the README from the table of the page Performance: requests and CPU beside the peers.

    chart.py            writes it
    chart.py --check    status 1 if the chart in the repository is not what the table makes
"""

import re
import sys

import source
import svg

PAGE = "Documentation/Curlew.docc/Articles/Performance.md"
HEADING = "## Beside Go and a loop in C"
OUTPUT = source.ROOT / "Documentation/Curlew.docc/Resources/performance.svg"
# How the clients of the table are called, and their colours. A client that is not listed is not drawn.
CLIENTS = {
    "curlew": ("Curlew, typed", "receive"), "go": ("Go net/http, typed", "connect"),
    "libcurl": ("loop in C over libcurl, not typed", "queue"), "aiohttp": ("aiohttp, typed", "wait"),
    "node": ("Node fetch, typed", "ssl"), "urlsession-wide": ("URLSession, typed", "dns"),
}
WIDTH, HEIGHT, BARS = 840, 300, 150


def rows():
    """Client, calls in flight, requests per second and CPU of a request, in the order of the table."""
    lines = source.text(PAGE).partition(f"\n{HEADING}\n")[2].split("\n")
    table = [line for line in lines[:next(n for n, line in enumerate(lines + ["## "]) if line.startswith("## "))]
             if line.startswith("|")]
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]
    if not cells:
        sys.exit(f"chart: {PAGE} has no table below {HEADING}")
    columns = [cells[0].index(name) for name in ("client", "in flight", "requests/s", "CPU µs")]
    picked = [[row[column] for column in columns] for row in cells[2:]]
    return [(client, int(width), float(rate), float(cpu)) for client, width, rate, cpu in picked if client in CLIENTS]


def draw(table):
    clients = list(dict.fromkeys(row[0] for row in table))
    widths = list(dict.fromkeys(row[1] for row in table))
    about = "; ".join(
        f"{client} at {width} in flight: {rate:.0f} requests per second, {cpu} µs of CPU" for client, width, rate, cpu
        in table)
    picture = svg.Picture(WIDTH, HEIGHT, "Curlew beside its peers", about)
    x = 20
    for client in clients:
        name, color = CLIENTS[client]
        picture.rect(x, 18, 12, 12, color, 2)
        picture.text(x + 18, 28, name)
        x += 40 + 6.6 * len(name)
    panel(picture, 20, "Requests a second, in thousands (more is better)", clients, widths,
          {row[:2]: row[2] / 1000 for row in table})
    panel(picture, 430, "CPU of a request in µs (less is better)", clients, widths, {row[:2]: row[3] for row in table})
    picture.text(20, HEIGHT - 14, "Small GET over HTTP/1.1, nginx on loopback, two cores for client and server; "
                 "medians of one run. The page Performance has the method.", "soft", size=11)
    return picture.svg()


def panel(picture, left, title, clients, widths, values):
    room, bottom, scale = 390, 80 + BARS, BARS / max(values.values())
    picture.text(left, 58, title, weight=600)
    picture.rect(left, bottom, room, 1, "soft")
    group = room / len(widths)
    bar = min(28, (group - 14) / len(clients))
    for number, width in enumerate(widths):
        start = left + group * number + (group - bar * len(clients)) / 2
        picture.text(left + group * (number + 0.5), bottom + 17, f"{width} in flight", "soft", "middle", 11)
        for index, client in enumerate(clients):
            value = values.get((client, width))
            if value is None:
                continue
            height, x = value * scale, start + bar * index
            picture.rect(x + 1, bottom - height, bar - 2, height, CLIENTS[client][1], 2)
            picture.text(x + bar / 2, bottom - height - 4, f"{value:.1f}", "text", "middle", 10.5)


def main():
    text = draw(rows())
    if "--check" not in sys.argv[1:]:
        OUTPUT.parent.mkdir(exist_ok=True)
        OUTPUT.write_text(text, encoding="utf-8")
    elif not OUTPUT.is_file() or OUTPUT.read_text(encoding="utf-8") != text:
        sys.exit(f"chart: {OUTPUT.name} is not what the table of {PAGE} makes; run Scripts/bench --svg")
    print(f"chart: {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
