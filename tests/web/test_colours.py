"""Colours of methods: readable in both themes, apart from each other, and none that of failure."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import minutebook.web
from minutebook.web.signs import COLOURS

CSS = (Path(minutebook.web.__file__).parent / "static" / "style.css").read_text()
Colour = tuple[float, float, float]


def properties(theme: int) -> dict[str, str]:
    """The custom properties of a theme: light, dark by choice of the system, dark by the button."""
    block = CSS.split(":root")[(1, 4, 5)[theme]]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def linear(code: str) -> Colour:
    found = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in found)
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""

    def luminance(code: str) -> float:
        red, green, blue = linear(code)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def oklab(code: str) -> Colour:
    red, green, blue = linear(code)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def distance(one: str, other: str) -> float:
    """How different two colours look: ΔE in OKLab."""
    return math.dist(oklab(one), oklab(other))


THEMES = pytest.mark.parametrize("theme", [0, 1, 2], ids=["light", "dark", "button"])


@THEMES
def test_pictures_have_the_page_s_colours(theme: int) -> None:
    """VIEW-16: a picture that was saved looks like the page."""
    known = properties(theme)
    at = min(theme, 1)
    assert {m or "none": known[m or "none"] for m in COLOURS} == {
        m or "none": pair[at] for m, pair in COLOURS.items()
    }


@THEMES
def test_letters_can_be_read_on_every_colour(theme: int) -> None:
    """VIEW-04: text contrast of at least 4.5:1, of letters on chips and of hues on paper."""
    known = properties(theme)
    for method in COLOURS:
        hue = known[method or "none"]
        assert contrast(hue, known["sign-ink"]) >= 4.5, method
        assert contrast(hue, known["sheet"]) >= 4.5, method


@THEMES
def test_debug_is_neither_design_nor_plan_nor_failure(theme: int) -> None:
    """VIEW-17: debug looks unlike its neighbours, and is not the colour of failure."""
    known = properties(theme)
    for other in ("design", "plan", "red"):
        assert distance(known["debug"], known[other]) > 0.08, other
    assert known["red"] not in [known[method] for method in COLOURS if method]
