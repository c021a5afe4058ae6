"""Words that tell how a prompt relates to the work before it, and what it asks for.

Listed for English, German, French, Spanish, Japanese and Chinese, so that a model learned from
English sessions finds the same evidence in the others: a feature is "asks for the next thing",
never the word that said so. Every pattern is a plain alternation, tried on the beginning of a
prompt, in lower case.
"""

from __future__ import annotations

import re
from itertools import accumulate


def small(text: str) -> str:
    """A text as cues look at it: in small letters, its apostrophes as keyboards have them."""
    return text.lower().replace("’", "'")


def starts(latin: str, other: str = "") -> re.Pattern[str]:
    """Matches at the beginning of a prompt."""
    return re.compile(rf"(?:{latin})(?!\w)" + (f"|(?:{other})" if other else ""))


def holds(latin: str, other: str = "") -> re.Pattern[str]:
    """Matches anywhere; scripts without spaces have no word boundaries."""
    return _quick(latin, other) or re.compile(rf"\b(?:{latin})\b" + (f"|{other}" if other else ""))


def _quick(latin: str, other: str) -> re.Pattern[str] | None:
    """The same, found faster: ``re`` skips to where a pattern can begin only if each of its
    alternatives begins with a letter, so the word boundary is looked for after that letter, once
    for all that begin with it."""
    words = [each for part in _alternatives(latin) for each in _opened(part)]
    plain = _alternatives(other) if other else []
    if not all(_BEGUN.match(part) for part in (*words, *plain)):
        return None
    rests: dict[str, list[str]] = {}
    for part in words:
        rests.setdefault(part[0], []).append(part[1:])
    begun = (f"{sign}(?<!\\w{sign})(?:{'|'.join(some)})\\b" for sign, some in rests.items())
    return re.compile("|".join((*begun, *plain)))


_BEGUN = re.compile(r"\w(?![?*+{])")
_SET = re.compile(r"\[(\w+)\](?![?*+{])")


def _opened(part: str) -> list[str]:
    """The same as alternatives that begin with a letter, where it begins with a group or a set."""
    if letters := _SET.match(part):
        return [letter + part[letters.end() :] for letter in letters[1]]
    if not part.startswith("(?:"):
        return [part]
    depths = accumulate((sign in "([") - (sign in ")]") for sign in part)
    end = next(place for place, depth in enumerate(depths) if not depth)
    rest = part[end + 1 :]
    if rest[:1] in ("*", "+", "{"):
        return [part]
    missing = rest.startswith("?")
    begun = [each + rest[missing:] for each in _alternatives(part[3:end])]
    return [each for one in (*begun, *[rest[1:]] * missing) for each in _opened(one)]


def _alternatives(pattern: str) -> list[str]:
    """What stands between the outermost bars of a pattern."""
    found, depth, escaped = [""], 0, False
    for sign in pattern:
        if sign == "|" and not depth and not escaped:
            found.append("")
            continue
        if not escaped:
            depth += (sign in "([") - (sign in ")]")
        escaped = sign == "\\" and not escaped
        found[-1] += sign
    return found


COURTESY = re.compile(
    r"(?:(?:ok(?:ay)?|so|hmm+|ah+|oh|well|hey|hi|hello|please|pls|just|great|cool|perfect|nice|good"
    r"|thanks|thank you|alright|right|sorry|erm|btw|actually|also ja|gut|super|danke|bitte|genau"
    r"|bon|bien|merci|parfait|s'il te plaît|bueno|vale|gracias|perfecto|por favor)\b[\s,.!:…-]*"
    r"|(?:わかりました|了解|ありがとう|それでは|では|じゃあ|えっと|好的|好|谢谢|请|嗯)[\s、,，。！!]*)+"
)
"""What people say before they say what they want."""

# How a prompt relates to what was before it, tried where courtesies end.
RELATIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "agrees",
        starts(
            r"y|yes|yeah|yep|yup|sure|agreed|correct|sounds good|go(?: ahead| for it)?|do (?:it"
            r"|that)"
            r"|make it so|proceed|please do|ship it|let'?s (?:go|do (?:it|this|that))"
            r"|ja|jawohl|klar|einverstanden|mach(?:'?s| das| es)?|leg los|los"
            r"|oui|d'accord|vas-y|allez-y|fais-le"
            r"|s[ií]|claro|de acuerdo|adelante|hazlo|dale",
            r"はい|うん|お願いします|進めて|やって|それで|是的?|对|可以|行|同意|就这样|开始吧",
        ),
    ),
    (
        "continues",
        starts(
            r"continue|go on|keep going|carry on|resume|try again|retry|again"
            r"|weiter(?:machen)?|mach weiter|fahr fort|nochmal|versuch(?:'?s| es) nochmal"
            r"|continuez?|réessaie|encore une fois|sigue|contin[uú]a|otra vez|reintenta",
            r"続けて|続き|もう一度|再度|继续|接着|再试",
        ),
    ),
    (
        "declines",
        starts(
            r"no|nope|nah|not|don'?t|do not|stop|wait|hold on|nein|nicht|stopp?|warte|halt"
            r"|non|ne|pas|attends|arrête|espera|para|nada",
            r"いいえ|いや|ちがう|違う|待って|やめて|不|别|停|等等",
        ),
    ),
    (
        "begins anew",
        starts(
            r"next|now|then|another|new|one more|moving on|switch(?:ing)?|back to"
            r"|let'?s (?:also |now )?"
            r"(?:move|look|work|start|get|switch|fix|add|build|create|make|implement|address|handle"
            r"|clean|update|write)|time to|while (?:we|you|i)"
            r"|jetzt|nun|als n[äa]chstes|n[äa]chste[rs]?|zur[üu]ck zu|noch (?:eine sache|etwas|was)"
            r"|neue[rs]?|maintenant|ensuite|prochaine?|passons|nouvelle?|autre chose|revenons"
            r"|ahora|siguiente|luego|pasemos|otra cosa|nuev[ao]|volvamos",
            r"次に|次は|次の|今度は|別の|新しい|接下来|下一|现在|另一个|新的|回到|然后",
        ),
    ),
    (
        "adds",
        starts(
            r"also|and|additionally|plus|same|auch|außerdem|und|noch|aussi|également|et|de plus"
            r"|también|además|y",
            r"また|あと|それと|さらに|ついでに|还有|也|另外|此外|以及",
        ),
    ),
    (
        "objects",
        starts(
            r"but|still|hmm|why (?:did|do|are|is|does|isn'?t|not)|that'?s (?:not|wrong)"
            r"|it'?s (?:not"
            r"|still)|it (?:still|does|is|did)|aber|immer noch|warum|das (?:ist|stimmt|geht)"
            r"|es geht"
            r"|mais|toujours|pourquoi|ça ne|c'est|pero|todav[ií]a|a[uú]n|por qu[eé]|eso no",
            r"でも|しかし|まだ|なぜ|なんで|但是|还是|为什么|不对|没有",
        ),
    ),
    (
        "refers back",
        starts(
            r"it|this|that|these|those|they|the (?:same|first|second|other|last)|both|option|number"
            r"|das|dies(?:e[rsnm]?)?|es|beide|ça|cela|ceci|ces|les deux|eso|esto|esos|ambos",
            r"それ|これ|その|この|上記|这|那|它|上面",
        ),
    ),
)

# What a prompt holds anywhere in its first lines.
CONTENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "speaks of something next",
        holds(
            r"next|another|new (?:task|topic|feature|issue|thing|branch|session)|separate(?:ly)?"
            r"|different|moving on|switch(?:ing)? to|(?:get |go )?back to|while we wait|one more"
            r"|unrelated|now (?:let|that|we|i|can|to|do)|n[äa]chste\w*|andere[rsnm]? (?:thema|sache"
            r"|frage)|neue[rsnm]? (?:aufgabe|thema|branch)|ensuite|prochaine?|autre (?:sujet|chose"
            r"|question)|nouvelle t[âa]che|siguiente|otr[oa] (?:tema|cosa|pregunta)|nueva tarea",
            r"次の|別の|新しい(?:タスク|課題)|接下来|下一[个步]|另一个|新(?:任务|问题|功能)",
        ),
    ),
    (
        "asks to commit or open a pull request",
        holds(
            r"commit(?:ted|s)?|push(?:ed)?|pull request|open (?:a |the )?(?:draft )?prs?"
            r"|create (?:a "
            r"|the )?(?:draft )?prs?|make a pr|stage|committe\w*|einchecken|pousse\w*|valide"
            r"|sube|confirma|haz (?:un )?commit",
            r"コミット|プッシュ|プルリク|提交|推送|合并请求",
        ),
    ),
    (
        "says something is done",
        holds(
            r"merged|i(?:'ve| have)? (?:committed|merged|pushed|reverted|fixed|updated|rebased"
            r"|run|ran"
            r"|tested|tried)|works(?: now)?|looks? good|lgtm|all good|fertig|erledigt|gemergt"
            r"|funktioniert|passt|fusionné|terminé|[çc]a marche|fusionado|listo|terminado|funciona",
            r"マージ(?:した|済)|できた|動いた|完了|合并了|完成了|好了|可以了",
        ),
    ),
    (
        "hands over a plan",
        holds(
            r"implement the following(?: plan)?|implement (?:the|this|that|your) plan"
            r"|execute (?:the |this"
            r" )?plan|(?:setze|implementiere) (?:den|diesen)(?: folgenden)? plan"
            r"|impl[ée]mente le plan"
            r"(?: suivant)?|implementa el(?: siguiente)? plan",
            r"(?:以下|次)の(?:計画|プラン)を|(?:实现|实施|执行)(?:以下|下面的?|这个)?计划",
        ),
    ),
    (
        "turns to work",
        holds(
            r"implement|build|go ahead|fix (?:it|this|that|them|all|the|both)|do it|make it so"
            r"|start"
            r"|execute|apply|address|migrate|let'?s (?:do|try|use|go|add|build|make|fix|start)"
            r"|umsetzen|setze?|baue?|behebe?|fang an|leg los|impl[ée]mente[rz]?|corrige[rz]?"
            r"|commence"
            r"|construis|implementa|corrige|arregla|empieza|construye",
            r"実装|直して|修正して|始めて|作って|实现|修复|开始|做",
        ),
    ),
    (
        "gives a verdict on the result",
        holds(
            r"(?:does|do|did)(?:n'?t| not) (?:work|seem|show|look|help)|still|wrong|broken|fails?"
            r"|failing|not (?:what|right|quite|working)|too (?:big|small|slow|long|much|many)"
            r"|geht nicht"
            r"|falsch|kaputt|funktioniert nicht|ne (?:marche|fonctionne) pas|toujours|cass[ée]"
            r"|no funciona|sigue|todav[ií]a|mal|roto",
            r"動かない|まだ|おかしい|壊れ|不行|不工作|还是|坏了|错",
        ),
    ),
    ("holds an @-mention of a file", re.compile(r"(?:^|\s)@[\w./~-]{3,}")),
    (
        "links to an issue or pull request",
        re.compile(r"/(?:pull|issues|merge_requests)/\d|\bpr ?#?\d|#\d{2,}"),
    ),
    ("holds a heading or a list", re.compile(r"^(?:#{1,4} |[-*] |\d[.)] )", re.MULTILINE)),
    ("is a shell command", re.compile(r"^\s*(?:! ?\w|❯|\$ )")),
)
REVISES = starts(
    r"(?:hm+|ok(?:ay)?|so|no|nah|wait|but)?[ ,.…]*(?:thinking (?:again|about it)"
    r"|on second thoughts?|scratch that|never ?mind|forget (?:it|that)"
    r"|actually,? (?:let'?s|we|just|no|can|could|please)"
    r"|instead,? (?:let'?s|of)|let'?s (?:rather|instead)|i changed my mind|i'?d rather"
    r"|doch (?:lieber|besser)|lieber doch|stattdessen|vergiss das"
    r"|finalement|en fait,? (?:on|je|il)|plutôt|oublie"
    r"|pensándolo bien|mejor (?:no|vamos|usa)|en realidad|olvida)",
    r"やっぱり|やはり|算了|还是(?:用|改|不)|改成",
)
"""How a person begins who wants something else than they asked for before."""
QUESTION = starts(
    r"what|why|how|is|are|does|did|do (?:we|i|you|they|the)|can (?:you|we|i)|could (?:you|we|i)"
    r"|where|which|when|who|would|should|was|wie|wo|wer|was|wann|welche[rsnm]?|kannst|k[öo]nn\w+"
    r"|sollte\w*|ist|sind|gibt|comment|quoi|quel(?:le)?s?|o[ùu]|est-ce|peux-tu|pouvez|qu[eé]"
    r"|c[óo]mo|d[óo]nde|cu[áa]l(?:es)?|puedes|podr[ií]as|es posible",
    r"何|どう|どこ|どの|いつ|誰|什么|怎么|哪|谁|如何|能不能|是否",
)
QUESTION_MARKS = ("?", "？", "か。", "吗", "呢")

TROUBLE = re.compile(
    r"\b(?:ERROR|FATAL|WARN|FAIL|Traceback|panic:|npm ERR!|exit (?:code|status) [1-9]|level=)"
    r"|^\s+at \S+ \(|error(?:\[\w+\])?:|\|DEBU\||undefined:",
    re.MULTILINE,
)
"""Output of something that failed, pasted."""
FINDINGS = re.compile(
    r"\b(?:high|medium|low|critical|minor|major|nit)(?: severity\b|:|\]|\)|\*\*)|\bp[0-3]\b"
    r"|\breview comments?\b|\bfindings?\b",
    re.IGNORECASE,
)
"""What a reviewer found, pasted or spoken of."""
