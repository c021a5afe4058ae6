"""Transcript text as HTML that can do nothing: Markdown rendered and sanitised.

Raw HTML in a text is shown as text. There are two guards: the renderer makes no tag it was
not told to make, and the sanitiser lets nothing pass that is not on its list. Secrets were
replaced by marks when the text left the archive; here each mark becomes a button.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from minutebook.archive.masking import HALF_MARK, MARK, unmarked
from minutebook.derive.plain import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

PREVIEW = 6_000
"""Characters of a text that are shown before somebody asks for all of it."""
LONGEST = 200_000
"""Characters shown on a page at all; what is longer is opened as a plain file."""
LONGEST_PROSE = 60_000
"""Characters rendered as Markdown; hostile text takes longer than its length."""
_HIGHLIGHTED = 20_000  # characters of a code block; longer ones stay plain
_PATIENCE = 0.15  # seconds for a code block: some lexers are slow on some texts
_LONGEST_MARK = 100  # characters
_TAGS = set(
    "p br h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s del a hr table thead tbody "
    "tr th td span".split()
)
_CLASSES = {"span": set("k s c n f gi gd gh".split())}
# While text becomes HTML, one character of the last private plane stands for a mark: no
# renderer or lexer can take it apart.
_STAND_IN = 0x100000
_MOST_BUTTONS = 60_000  # there are not more such characters
_PRIVATE = re.compile("[\U00100000-\U0010ffff]")
# A link to an address with a secret in it leads nowhere: a button cannot stand in an attribute.
_SECRET_LINK = re.compile(' href="[^"]*(?:%F4%8|[\U00100000-\U0010ffff])[^"]*"', re.IGNORECASE)


class Masked:
    """A text with a stand-in for each mark of a secret, and the buttons to put in their place."""

    def __init__(self, text: str, most: int | None = None) -> None:
        self._buttons: list[str] = []
        seen = clean(text if most is None else text[: most + _LONGEST_MARK])
        seen = HALF_MARK.sub("", MARK.sub(self._stand_in, seen))
        self.text = seen if most is None else seen[:most]

    def _stand_in(self, mark: re.Match[str]) -> str:
        if len(self._buttons) >= _MOST_BUTTONS:
            return unmarked(mark[0])
        kind = html.escape(mark[2])
        self._buttons.append(
            f'<button type="button" class="secret" data-secret="{mark[1]}" '
            f'aria-label="{kind}, masked: reveal">{kind}</button>'
        )
        return chr(_STAND_IN + len(self._buttons) - 1)

    def put_back(self, safe: str) -> Markup:
        """Safe HTML with a button for each secret."""
        if self._buttons:
            safe = _PRIVATE.sub(self._button, _SECRET_LINK.sub("", safe))
        return Markup(safe)

    def _button(self, found: re.Match[str]) -> str:
        at = ord(found[0]) - _STAND_IN
        return self._buttons[at] if at < len(self._buttons) else "\ufffd"


def prose(text: str, most: int | None = None) -> Markup:
    """Markdown as safe HTML; of a long text so many characters, up to the end of a line."""
    masked = Masked(text, most)
    shown = masked.text
    if most is not None and len(shown) == most:
        end = shown.rfind("\n", most // 2)
        shown = shown[:end] if end > 0 else shown
    return masked.put_back(_sanitised(_renderer().render(shown)))


def plain(text: str, most: int | None = None) -> Markup:
    """Text as it is, for a ``<pre>`` or a line."""
    masked = Masked(text, most)
    return masked.put_back(html.escape(masked.text))


_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\{}|^\[\]\U00100000-\U0010ffff]{3,2000}")
_AFTER = re.compile(r"(?:[.,;:!?*_]|&(?:#\d+|\w+);)+$")  # what ends a sentence, or a quotation


def linked(safe: str) -> str:
    """Escaped text with its addresses as links; anything but http and https stays text."""
    return _ADDRESS.sub(_link, safe) if "://" in safe else safe


def _link(found: re.Match[str]) -> str:
    address, after = found[0], ""
    # Escaped quotation marks and brackets end an address, as they would unescaped.
    for mark in ("&quot;", "&#x27;", "&lt;", "&gt;"):
        at = address.find(mark)
        if at >= 0:
            address, after = address[:at], address[at:] + after
    if address.endswith(")") and address.count("(") < address.count(")"):
        address, after = address[:-1], ")" + after
    if (end := _AFTER.search(address)) is not None:
        address, after = address[: end.start()], address[end.start() :] + after
    if len(address) < 11:
        return found[0]
    return f'<a href="{address}" rel="noopener noreferrer nofollow">{address}</a>{after}'


def code(text: str, language: str) -> Markup:
    """Code with its words coloured."""
    masked = Masked(text)
    return masked.put_back(highlighted(masked.text, language))


def _sanitised(rendered: str) -> str:
    import nh3

    return nh3.clean(
        rendered,
        tags=_TAGS,
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        allowed_classes=_CLASSES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    def colour(content: str, language: str, _attributes: str) -> str:
        return highlighted(content, language)

    options = {"html": False, "breaks": True, "linkify": False, "highlight": colour}
    renderer = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    renderer.add_render_rule("text", _text)
    # A picture from elsewhere would tell its host who is reading: it becomes a link.
    renderer.add_render_rule("image", _picture_as_link)
    return renderer


def _text(_self: Any, tokens: Any, at: int, _options: Any, _env: Any) -> str:
    """Words, with links where an address stands outside of one."""
    safe = html.escape(tokens[at].content)
    if "://" not in safe:
        return safe
    depth = sum(token.nesting for token in tokens[:at] if token.type.startswith("link_"))
    return safe if depth else linked(safe)


def _picture_as_link(_self: Any, tokens: Any, at: int, _options: Any, _env: Any) -> str:
    token = tokens[at]
    address, words = token.attrGet("src") or "", token.content or "picture"
    return f'<a href="{html.escape(str(address))}">{html.escape(words)}</a>'


# -- colours in code

_MARKS: tuple[tuple[str, str], ...] = (
    ("Token.Comment", "c"),
    ("Token.Literal.String", "s"),
    ("Token.Literal.Number", "n"),
    ("Token.Keyword", "k"),
    ("Token.Name.Function", "f"),
    ("Token.Name.Class", "f"),
    ("Token.Name.Tag", "k"),
    ("Token.Generic.Inserted", "gi"),
    ("Token.Generic.Deleted", "gd"),
    ("Token.Generic.Heading", "gh"),
)


def highlighted(text: str, language: str) -> str:
    """Escaped code with spans for what matters; few nodes, because pages hold much code."""
    lexer = _lexer(language.split()[0].lower()) if language.strip() else None
    if lexer is None or len(text) > _HIGHLIGHTED:
        return html.escape(text)
    pieces: list[tuple[str, str]] = []
    deadline = time.monotonic() + _PATIENCE
    for token, words in lexer(text):
        if time.monotonic() > deadline:
            return html.escape(text)
        mark = _mark(str(token))
        if pieces and (pieces[-1][0] == mark or not words.strip()):
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + words)
        else:
            pieces.append((mark, words))
    return "".join(
        f'<span class="{mark}">{html.escape(words)}</span>' if mark else html.escape(words)
        for mark, words in pieces
    )


@cache
def _mark(token: str) -> str:
    return next((mark for name, mark in _MARKS if token.startswith(name)), "")


@cache
def _lexer(language: str) -> Callable[[str], Any] | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return lexer.get_tokens
