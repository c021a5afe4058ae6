"""Words that tell how a range of rounds ended, in the same six languages as `cues`."""

from __future__ import annotations

import re

from minutebook.extract.offline.cues import holds

# In the last words of the agent.
BLOCKED = holds(
    r"(?<!be )(?<!not )blocked (?:on|by|until)|(?:still )?(?:waiting|awaiting) (?:for|on) (?:you"
    r"|your|the user"
    r"|access"
    r"|approval|credentials)|can(?:'|no)?t (?:proceed|continue|push|commit|complete) (?:until"
    r"|without)"
    r"|unable to (?:proceed|continue)|need(?:s)? your (?:input|approval|access|password"
    r"|credentials)"
    r"|hit (?:your|the) (?:usage|rate) limit|once (?:you(?:'ve)?|the secrets|access|permissions)"
    r" (?:configured?|grant(?:ed)?|set up|are (?:set|configured|granted))|permission denied"
    r"|only github"
    r" support|(?:wartet|warte) auf (?:dich|deine|freigabe|zugang)|blockiert (?:durch|von)"
    r"|kann nicht"
    r" (?:fortfahren|weitermachen)|en attente de (?:votre|ta|ton)|bloqué par"
    r"|impossible de continuer"
    r"|bloqueado por|esperando (?:tu|su|acceso)|no puedo continuar",
    r"ブロックされて|お待ちして|進めません|続行できません|被阻塞|等待(?:您|你|授权)|无法继续",
)
HANDED = holds(
    r"hand(?:ed|ing)?[- ]?(?:off|over)(?: (?:doc|note|document))?|for (?:the )?next session"
    r"|pick (?:it|this) up (?:later|tomorrow|next)|übergabe|übergeben an|passation|transmis à"
    r"|traspaso"
    r"|entregado a",
    r"引き継ぎ|引継ぎ|交接|移交",
)
UNFINISHED = re.compile(
    r"(?::|…|\blet me [^.?!]{0,200}[.:]?|\b(?:i'll|i will|now i) [^.?!]{0,120}[.:])$"
    r"|\b(?:ich werde|lass mich|je vais|laissez-moi|voy a|déjame) [^.?!]{0,120}[.:]$"
    r"|(?:します|してみます|我来|让我)[^。？！]{0,40}[。：:]$",
    re.IGNORECASE,
)
_GOES_ON = (  # one of them is in what `UNFINISHED` finds: looking is cheaper
    *("let me ", "i'll ", "i will ", "now i ", "ich werde ", "lass mich ", "je vais "),
    *("laissez-moi ", "voy a ", "déjame ", "します", "してみます", "我来", "让我"),
)
OFFERS = holds(
    r"(?:would you like|do you want|want) (?:me )?to|should i|shall i|which (?:one|option|way"
    r"|approach)"
    r"|let me know|what do you think|how would you like|ready (?:for|to)|next steps?|soll ich"
    r"|möchtest"
    r" du|möchten sie|dois-je|veux-tu|voulez-vous|souhaitez|debo|quieres que|deseas",
    r"しましょうか|よろしいですか|でしょうか|要我|需要我|是否",
)
REPORTS = holds(
    r"done|complete[d]?|committed|pushed|fixed|merged|created|updated|added|removed|implemented"
    r"|passes"
    r"|pass(?:ed|ing)?|deployed|resolved|all set|successfully|summary|fertig|erledigt|abgeschlossen"
    r"|behoben|erstellt|terminé|corrigé|ajouté|créé|listo|terminado|corregido|añadido|creado",
    r"完了|しました|できました|已完成|已修复|完成了|已添加|已更新",
)
FAILS = holds(
    r"fail(?:s|ed|ing|ure|ures)?|errors?|broken|not working|still|doesn'?t work|could ?n[o']t"
    r"|cannot"
    r"|schlägt fehl|fehlgeschlagen|échoue|échoué|falla|fallado",
    r"失敗|エラー|失败|错误|报错",
)
COMPLAINT = re.compile(r"\bAPI Error\b|Please run /login|usage limit reached|limit reached")

# In what the person says after it, or last.
DROPPED = holds(
    r"revert(?: the| all| your| those| these| this| it)?|undo|roll (?:it )?back|throw (?:it"
    r"|that) away"
    r"|scrap (?:it|that|this)|forget (?:it|that|about)|never ?mind|abandon|rückgängig|verwirf"
    r"|vergiss es"
    r"|mach(?: das)? rückgängig|annule[rz]?|laisse tomber|oublie ça|abandonne|deshaz|revierte"
    r"|olv[ií]da(?:lo)?"
    r"|d[ée]jalo",
    r"元に戻して|取り消して|やめて(?:おこう)?|破棄|撤销|回滚|放弃|算了",
)
_ASKING = re.compile(
    r"(?:(?:can|could|would) (?:you|we) |please |let'?s |just |actually |now |then |kannst du "
    r"|bitte "
    r"|peux-tu |s'il te plaît |puedes |por favor )*"
)


def announces(ending: str) -> bool:
    """Whether last words, in lower case, announce what comes next."""
    if not ending.endswith((":", "…", "\n")) and not any(word in ending for word in _GOES_ON):
        return False
    return UNFINISHED.search(ending) is not None


def takes_back(prompt: str) -> bool:
    """Whether a prompt, in lower case and without courtesies, asks first of all to undo."""
    asking = _ASKING.match(prompt)
    return DROPPED.match(prompt, asking.end() if asking else 0) is not None
