"""Small SVG figures: grouped bars and lines, with linear or logarithmic axes.

They need nothing but this file, and carry both a light and a dark set of colours.
"""

import math
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 74, 64
STYLE = """
  svg { color-scheme: light dark; }
  .paper { fill: #ffffff; } .ink { fill: #1f2328; } .faint { fill: #59636e; }
  .grid { stroke: #d8dee4; stroke-width: 1; } .axis { stroke: #59636e; stroke-width: 1; }
  .f0 { fill: #0b62a8; } .f1 { fill: #d9730d; } .f2 { fill: #2d8a5b; } .f3 { fill: #8250b5; }
  .s0 { stroke: #0b62a8; } .s1 { stroke: #d9730d; } .s2 { stroke: #2d8a5b; } .s3 { stroke: #8250b5; }
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
  text { font: 13px system-ui, sans-serif; } .title { font-size: 16px; font-weight: 600; } .small { font-size: 11.5px; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14181d; } .ink { fill: #e6edf3; } .faint { fill: #9aa5b1; }
    .grid { stroke: #2c333b; } .axis { stroke: #9aa5b1; }
    .f0 { fill: #5aa9e6; } .f1 { fill: #f2a154; } .f2 { fill: #63c795; } .f3 { fill: #b794e6; }
    .s0 { stroke: #5aa9e6; } .s1 { stroke: #f2a154; } .s2 { stroke: #63c795; } .s3 { stroke: #b794e6; }
  }
"""


def bars(path, title, groups, series, unit, log=False):
    """Grouped bars: `groups` are names on the x axis, `series` maps a legend name to one value per group."""
    values = [value for row in series.values() for value in row if value is not None]
    scale = _Scale(values, HEIGHT - BOTTOM, TOP, log, from_zero=True)
    parts = _frame(title, unit, scale) + _legend(list(series))
    slot = (WIDTH - LEFT - RIGHT) / len(groups)
    width = min(64, slot * 0.8 / len(series))
    for place, name in enumerate(groups):
        middle = LEFT + slot * (place + 0.5)
        parts += _wrapped(name, middle, HEIGHT - BOTTOM + 18, slot)
        for number, row in enumerate(series.values()):
            if row[place] is None:
                continue
            x = middle + (number - len(series) / 2) * width
            y = scale(row[place])
            parts.append(f'<rect class="f{number % 4}" x="{x + 1:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{scale.low_at - y:.1f}" rx="2"/>')
            parts.append(_text(x + width / 2, y - 4, short(row[place], 3 if width > 40 else 2), "ink small", "middle"))
    _write(path, title, parts)


def lines(path, title, x_label, series, unit, log_x=False, log_y=False, names=None):
    """Lines with dots: `series` maps a legend name to (x, y) points; `names` are the x values to be marked."""
    points = [point for row in series.values() for point in row]
    across = _Scale([x for x, _ in points], LEFT + 24, WIDTH - RIGHT - 24, log_x, tight=True)
    up = _Scale([y for _, y in points], HEIGHT - BOTTOM, TOP, log_y, from_zero=True)
    parts = _frame(title, unit, up) + _legend(list(series))
    for x in names or sorted({x for x, _ in points}):
        parts.append(_text(across(x), HEIGHT - BOTTOM + 18, short(x), "faint", "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, x_label, "faint", "middle"))
    placed = []
    for number, row in enumerate(series.values()):
        drawn = [(across(x), up(y)) for x, y in sorted(row)]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f'<polyline class="line s{number % 4}" points="{way}"/>')
        parts += [f'<circle class="f{number % 4}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in drawn]
        for (x, y), (_, value) in ((drawn[0], sorted(row)[0]), (drawn[-1], sorted(row)[-1])):
            label = next((at for at in (y - 9, y + 20, y - 24, y + 34) if all(x != px or abs(at - py) > 18 for px, py in placed)), y - 9)
            placed.append((x, label))
            parts.append(_text(x, label, short(value), "ink small", "middle"))
    _write(path, title, parts)


def short(value, digits=3):
    """A number with as many digits as a figure can show."""
    if value == 0:
        return "0"
    for limit, letter in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            factor = 1e3 if letter == "k" else 1e6
            return f"{value / factor:.{digits}g}{letter}"
    return f"{value:.{digits}g}" if abs(value) < 100 else f"{value:,.0f}"


class _Scale:
    """Turns values into coordinates."""

    def __init__(self, values, low_at, high_at, log, from_zero=False, tight=False):
        positive = [value for value in values if value > 0] or [1]
        self.low_at, self.high_at, self.log = low_at, high_at, log
        if log:
            low, high = math.log10(min(positive)), math.log10(max(positive))
            self.low, self.high = (low, high) if tight else (math.floor(low - 0.15), math.ceil(high + 0.05))
        else:
            self.low = 0 if from_zero else min(values)
            self.high = max(positive) * (1 if tight else 1.08)
        if self.high <= self.low:
            self.high = self.low + 1

    def __call__(self, value):
        if self.log:
            value = math.log10(value) if value > 0 else self.low
        share = (value - self.low) / (self.high - self.low)
        return self.low_at + min(1, max(0, share)) * (self.high_at - self.low_at)

    def ticks(self):
        if self.log:
            return [10.0**power for power in range(math.ceil(self.low), math.floor(self.high) + 1)]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
        step *= next(factor for factor in (1, 2, 2.5, 5, 10) if (self.high - self.low) / (step * factor) <= 6)
        return [step * number for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def _frame(title, unit, scale):
    parts = [
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        _text(LEFT - 58, 26, title, "ink title"),
        _text(LEFT - 58, TOP - 12, unit + (", logarithmic" if scale.log else ""), "faint small"),
    ]
    for tick in scale.ticks():
        y = scale(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(LEFT - 8, y + 4, short(tick), "faint", "end"))
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>')
    return parts


def _legend(names):
    parts, x = [], WIDTH - RIGHT - sum(28 + 6.6 * len(name) for name in names)
    if len(names) < 2:
        return []
    for number, name in enumerate(names):
        parts.append(f'<rect class="f{number % 4}" x="{x:.1f}" y="{TOP - 32}" width="12" height="12" rx="2"/>')
        parts.append(_text(x + 17, TOP - 22, name, "ink small"))
        x += 28 + 6.6 * len(name)
    return parts


def _wrapped(name, x, y, width):
    rows, room = [""], max(6, int(width / 6.4))
    for word in name.split():
        if rows[-1] and len(rows[-1]) + len(word) + 1 > room:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return [_text(x, y + 14 * number, row, "faint small", "middle") for number, row in enumerate(rows)]


def _text(x, y, text, style, anchor="start"):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(text))}</text>'


def _write(path, title, parts):
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{head}\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n")
