"""What people and models say in generated sessions, the awkward things included."""

from __future__ import annotations

from random import Random

PROJECTS = ("orchard", "tide-table", "museum_kiosk", "lamp.firmware", "ein Käfer", "日本語")
BRANCHES = ("main", "fix/login-redirect", "feature/apple-chart", "HEAD")
SLUGS = ("quiet-humming-lantern", "brave-turning-otter", "plain-drifting-cedar")

ASKED = (
    "why does the login redirect lose its query string?",
    "draw the harvest as a bar chart, one bar for each week.",
    "the importer is slow on large files. Find out where the time goes.",
    "rename `Basket` to `Crate` everywhere, tests included.",
    "the second tab shows an old total. Fix it and write a test that fails before.",
    "write the release notes for 0.4; keep them short.",
    "should we keep SQLite or move to Postgres? Decide, and say why.",
)
SAID = (
    "I'll look at the code first.",
    "The query is dropped in `redirect()`: it rebuilds the address from the path alone.",
    "Done. The test fails without the change and passes with it.",
    "Two functions take 80 % of the time; both parse the same header again for each row.",
    "We decided to keep SQLite: one writer, small data, no server to look after.",
    "All 214 tests pass. I left the public names as they were.",
)
THOUGHT = (
    "The user wants the cause, not a workaround. Start with the router.",
    "If the header is parsed once, the loop needs no lock.",
    "A rename in tests may hide a behaviour change; run them before and after.",
)

ODDITIES = {
    "line separators": "one\u2028two\u2029three\u0085four",
    "surrogates": "half a smile \ud83d and its other half \ude00 apart",
    "right to left": "שלום \u202eevas\u202c, مرحبا بالعالم",
    "controls": "bell \x07, null \x00, escape \x1b[31mred\x1b[0m, delete \x7f, tab\tend",
    "line ends": "first\r\nsecond\rthird\n\n\n",
    "headings": "# Round 7\n\n## Claude\n\n### [user]\n\n---\n\ntext\n\n***\n",
    "front matter": "---\ntitle: not ours\n---\n\nbody",
    "comments": "<!-- minutebook: {} -->\n<!-- not closed\n--> closed",
    "fences": "```python\nprint('```')\n````\n~~~\nopen",
    "wide": "👩‍👩‍👧‍👦 ﷽ e\u0301 \u200b\ufeff Ω≈ç√ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "markup": "<script>alert(1)</script> & <b>bold</b> [link](javascript:x) ![](x)",
    "spaces": "  leading, trailing   \n\t\n ",
    "reminder": "The wrapper <system-reminder>is quoted here</system-reminder>, in prose.",
    "json": '{"type":"user","message":{"role":"user","content":"\\u0041"}}',
    "long": "word " * 3_000,
}

CODE = (
    "def redirect(request):\n    path = request.path\n    return Response(302, location=path)\n",
    "class Basket:\n    def __init__(self):\n        self.apples = []\n\n    def total(self):\n"
    "        return sum(apple.weight for apple in self.apples)\n",
    'fn main() {\n    let crates: Vec<u32> = vec![3, 5, 8];\n    println!("{:?}", crates);\n}\n',
)
_OUTCOMES = ("PASSED", "PASSED", "SKIPPED")


def ticket(count: int) -> str:
    """Every prompt opens with one of its own, so that a test can tell them apart."""
    return f"ORCH-{count}"


def reply(chance: Random) -> str:
    return " ".join(chance.sample(SAID, chance.randint(1, 3)))


def listing(chance: Random, lines: int) -> str:
    """Output of some command."""
    return "\n".join(
        f"{chance.choice(_OUTCOMES)} tests/test_{n}.py::test_{chance.randrange(90)}"
        for n in range(lines)
    )
