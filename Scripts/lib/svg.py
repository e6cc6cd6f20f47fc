# SPDX-License-Identifier: MIT
"""Writes pictures: SVG in light and dark colours, with the fonts of the system, and nothing that has to be loaded."""

import re
from xml.sax.saxutils import escape

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace"

# Light and dark, as in Scripts/report/page.css. Classes and not variables of CSS, which some viewers do not know.
COLORS = {
    "bg": ("#ffffff", "#14171b"), "panel": ("#f6f7f9", "#1b1f25"), "line": ("#dfe3e8", "#2e343c"),
    "text": ("#1b1f24", "#e6e9ed"), "soft": ("#5b6470", "#9ba5b1"), "accent": ("#0b5cad", "#7db8f5"),
    "good": ("#1a6e3c", "#7bd49b"), "warn": ("#8a5300", "#f0b95b"), "bad": ("#b3261e", "#ff8a80"),
    "track": ("#eceff3", "#20252c"), "queue": ("#9aa3ad", "#77818c"), "dns": ("#56b4e9", "#56b4e9"),
    "connect": ("#e69f00", "#e69f00"), "ssl": ("#cc79a7", "#cc79a7"), "send": ("#d9c800", "#f0e442"),
    "wait": ("#009e73", "#009e73"), "receive": ("#0072b2", "#3d9be0"), "violet": ("#7a3ea8", "#c9a0f0"),
    "cyan": ("#0b6b80", "#6cc7dd"),
}


class Picture:
    def __init__(self, width, height, title, about, font=SANS, size=12.5):
        self.width, self.height, self.title, self.about = width, height, title, about
        self.font, self.size, self.parts, self.used = font, size, [], set()
        self.rect(0, 0, width, height, "line", 8)
        self.rect(1, 1, width - 2, height - 2, "bg", 7)

    def rect(self, x, y, width, height, color, radius=0):
        self.used.add(color)
        round_corners = f' rx="{radius}"' if radius else ""
        self.parts.append(
            f'<rect class="{color}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{round_corners}/>')

    def text(self, x, y, text, color="text", anchor="start", size=None, weight=None):
        """One line; `text` is a string, or a list of strings with their colours and weights."""
        runs = [(text, color, weight)] if isinstance(text, str) else text
        self.used.update(run[1] for run in runs)
        spans = "".join(
            f'<tspan class="{color}"{bold(weight)}>{escape(run)}</tspan>' for run, color, weight in runs if run)
        extra = (f' text-anchor="{anchor}"' if anchor != "start" else "") + (
            f' style="font-size:{size}px"' if size else "")
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{extra} xml:space="preserve">{spans}</text>')

    def svg(self):
        def rules(number):
            return "".join(f".{name}{{fill:{COLORS[name][number]}}}" for name in COLORS if name in self.used)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img">',
            f"<title>{escape(self.title)}</title>", f"<desc>{escape(self.about)}</desc>",
            f"<style>text{{font:{self.size}px {self.font};white-space:pre}}{rules(0)}",
            f"@media (prefers-color-scheme:dark){{{rules(1)}}}</style>", *self.parts, "</svg>", ""])


def bold(weight):
    return f' font-weight="{weight}"' if weight else ""


def structure(svg):
    """The words of a picture in no order, without what differs from run to run and between machines: numbers, their
    units, bars, what is measured only if it took time, and the addresses that are tried."""
    lines = (re.sub(r"<[^>]+>", "", line) for line in re.findall(r"<text[^>]*>(.*?)</text>", svg))
    plain = (re.sub(r"(?:\d[\d.,:]*(?: (?:µs|ms|s)\b)?|[█\s])+", "#", line).strip("#") for line in lines)
    return sorted(line for line in plain if line and not line.startswith(("*#Measured", "*#A#connection#to")))
