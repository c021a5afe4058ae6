"""Words around a request that say nothing of its subject, in six languages.

Greetings, thanks, "could you please", "let's", "I would like to": a heading begins after
them and ends before them. Listed for English, German, French, Spanish, Japanese, Chinese.
"""

from __future__ import annotations

import re


def _any(lines: str) -> str:
    """Alternatives, one or more a line, as one pattern."""
    return "|".join(line.strip() for line in lines.strip().splitlines())


_GREETINGS = _any(
    r"""
    good (?:morning|afternoon|evening|day)|morning|hi+|hey+|hello|yo|howdy|greetings
    guten (?:morgen|tag|abend)|hallo|moin|servus|gr(?:ü|ue)(?:ß|ss) (?:dich|gott)
    bonjour|bonsoir|salut|coucou
    hola|buen[oa]s (?:d[ií]as|tardes|noches)|buenas
    """
)
_ADDRESSED = (  # by a common word, or by a name that a comma sets apart
    r"(?:[ ,]+(?:buddy|there|all|everyone|team|mate|man|friend|again|tous)| \w{2,15}(?=[,!.]))?"
)
_SMALL_WORDS = _any(
    r"""
    ok(?:ay)?|so|hm+|a+h|oh|wow|and|but|also|now|then|well|yes|yeah|yep|yup|no|nope|great|cool|nice
    perfect|awesome|excellent|amazing|thanks?(?: you)?(?: (?:so|very) much)?|sorry|apologies
    actually|erm?|u[hm]+|g?a+h|argh|ugh|lol|alright|right|first(?: of all)?|firstly
    next(?: up)?|finally|please|pls|plz
    just|maybe|perhaps|basically|btw|by the way|thinking again|anyway|hence|sure|got it|makes sense
    good (?:point|question|idea|job|work|stuff)|good|for now|at this point|quick question|again
    one more thing|fyi|additionally|lately
    done(?= ?[.,!:–—-])|while we wait for[^,.]{3,40},
    still|unfortunately|in the meantime|in general|sounds good|looks good|lgtm
    bitte|danke(?: sch(?:ö|oe)n)?|ja|nein|genau|super|und|aber|jetzt|dann|zun(?:ä|ae)chst|mal
    als n(?:ä|ae)chstes|noch etwas|entschuldigung
    s['’]il (?:te|vous) pla[iî]t|stp|svp|merci(?: beaucoup)?|oui|non|d['’]accord|alors|maintenant
    ensuite|mais|parfait|d[ée]sol[ée]e?
    por favor|(?:muchas )?gracias|s[ií]|vale|bueno|ahora|luego|entonces|pero|perfecto|perd[oó]n
    perdona|genial
    """
)
_ASKING = _any(
    r"""
    (?:can|could|would|will|may) (?:you|we|i|u)
    (?:i|we)(?:['’]d| would)?(?: really| also| just| now)* (?:want|like|need|wanted|love|wish) to
    (?:i|we)(?:['’]d| would)? (?:want|like|need|wanted|love) (?:you|us) to
    (?:i|we)(?:['’]d| would) (?:really )?(?:like|love|prefer)(?: it if (?:you|we) could)?
    i(?:['’]m| am) (?:trying|looking|going|about|planning|hoping) to
    i['’]?(?:ve| have) (?:noticed|seen|found|realized)(?: that(?! you\b))
    i['’]?(?:ve| have) (?:noticed|seen|found|realized)(?= (?:the|an?|some|every|whatever|when) )
    i (?:still )?(?:think|guess|feel like|feel|noticed|see|believe|wonder|suspect|saw|realized)
    i(?:['’]m| was| am) (?:wondering|thinking)(?: about)?
    i(?:['’]m| am)? (?:also |still )?(?:getting|seeing|get|see)(?= an? | the )
    i(?:['’]m| am) (?:also |still )?(?:having|facing)(?= (?:some )?(?:problems?|trouble|issues?) )
    i (?:also |still )?(?:have|had)(?= (?:some )?(?:problems?|trouble|issues?) )
    i (?:also |still )?(?:want|need)(?= an? )
    (?:we|there) (?:still |also )?(?:have|is|are|seems? to be|might be)(?= an? )
    let['’]?s|let us|we (?:still )?(?:should|could|can|must|have to|need to|want to)
    you (?:should|could|can|must|need to|have to)|so that|that
    (?:your|the|my|our) (?:task|job|goal|idea|aim) is to
    go ahead(?: and| with|,)|go and|help (?:me|us)(?: to| with)?
    is it possible to|would it be possible to
    it would be (?:good|nice|great|cool) (?:to|if (?:we|you) could)
    (?:give|show|tell|generate|get) (?:me|us)|do we have|do you (?:think|know|see|mind)
    is it possible that|it (?:looks|seems)(?: like| that)
    (?:read|see|check|look at) (?:this|that|it|the following) and
    what(?:['’]?s| is) going on(?: with| in| here)?
    (?:also )?needs? to
    feel free to|make sure(?: that| to)?|remember to
    (?:is|are) there (?:an? )?(?:easy |simple |good )?ways? (?:to|for us to)
    (?:have|take) a (?:quick |another )?look (?:at|into|if|whether)|try to|start by|begin by
    (?:kannst|k(?:ö|oe)nntest|w(?:ü|ue)rdest|magst) du(?: mir)?|k(?:ö|oe)nnen (?:wir|sie)|lass uns
    ich (?:m(?:ö|oe)chte|will|brauche|h(?:ä|ae)tte gerne?|w(?:ü|ue)rde gerne?)(?:,? dass du)?
    wir (?:sollten|m(?:ü|ue)ssen|k(?:ö|oe)nnen)
    (?:peux|pourrais|peut|veux)[- ](?:tu|on)|(?:pouvez|pourriez|voulez)[- ]vous
    (?:tu|vous) (?:peux|pourrais|pouvez|pourriez)|aide[- ]moi(?: à)?|on (?:doit|devrait|peut)
    est[- ]ce (?:que (?:tu peux|vous pouvez)|qu['’]on peut|que)|il faut(?: que tu)?
    (?:je (?:veux|voudrais|souhaite(?:rais)?)|j['’]aimerais)(?: que tu)?
    ¿?(?:me )?(?:puedes|podr[ií]as|puede|podr[ií]a|podemos|quieres)|vamos a|hay que|tenemos que
    (?:quiero|quisiera|necesito|me gustar[ií]a)(?: que)?|ay[uú]dame(?: a)?|tienes que
    """
)
_ASIAN = _any(
    r"""
    こんにちは|こんばんは|おはよう(?:ございます)?|お疲れ(?:様|さま)(?:です)?|すみません(?:が)?
    ありがとう(?:ございます)?|はい|では|じゃあ|それでは|次に|次は|それと|ちなみに
    你好|您好|早上好|下午好|晚上好|大家好|好的|好吧|嗯|是的|谢谢[你您]?|麻烦[你您]?
    请[你您]?(?:帮[我忙])?[先再]?|帮[我忙]|能不能|能否|可不可以|可以(?:帮我)?
    我(?:想|要|需要|希望)你?|我们(?:需要|应该|可以|来)|接下来|然后|现在|另外|还有
    """
)
_BEFORE = re.compile(
    rf"(?:(?:(?:{_GREETINGS}){_ADDRESSED}|{_SMALL_WORDS})(?![\w'’-])[\s,.!:;…–—-]*"
    rf"|(?:{_ASKING})(?![\w'’-])\s*(?:(?:please|also|maybe|just|now|quickly|first|bitte|mal) )*"
    rf"|(?:{_ASIAN})[\s、。，,.!！]*)",
    re.IGNORECASE,
)
_THANKS = _any(
    r"""
    please|pls|thanks?(?: you)?(?: (?:so|very) much)?|thx|ok(?:ay)?|right|for me|if possible
    (?:can|could|would) you (?:please )?(?:take a look|have a look|check|help(?: me| us)?)
    (?:can|could|would) you (?:please )?(?:fix|do|look into) (?:it|this|that)
    (?:take|have) a look|what do you think|do you think|makes sense|you know|if you can
    is that (?:ok(?:ay)?|possible|right|correct)|bitte|danke
    s['’]il (?:te|vous) pla[iî]t|stp|svp|merci|por favor|gracias
    """
)
_ASIAN_THANKS = _any(
    r"""
    (?:して|で)?(?:ください|下さい|くれますか|もらえますか|もらえる|いただけますか|ほしいです|欲しいです)
    お願い(?:します|致します|いたします)?|吗|吧|好吗|可以吗|行吗|谢谢|一下
    """
)
_AFTER = re.compile(
    rf"(?:[\s,;–—-]+(?:{_THANKS})[\s?.!]*|(?:{_ASIAN_THANKS})[。！!？?，、\s]*)$", re.IGNORECASE
)
_CHATTER = re.compile(
    r"^(?:it['’]?s|it is|today(?:['’]s| is)|the time is)(?: now)? (?:the )?"
    r"(?:\d|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:fell asleep|how are you|hope you(?:['’]re| are)|nice to (?:meet|see)|welcome back"
    r"|(?:got|have|had) a(?:nother)? (?:\w+ )?question"
    r"|wie geht(?:['’]s| es)|comment (?:ça va|vas|allez)|c[oó]mo est[aá]s|元気|辛苦了)\b",
    re.IGNORECASE,
)
_MOST_TAKEN = 12
_TAIL = 90  # characters in which all of what is taken from an end stands


def without_courtesies(text: str) -> str:
    """A sentence without what a polite person puts around it."""
    for _ in range(_MOST_TAKEN):
        before = _BEFORE.match(text)
        shorter = (text[before.end() :] if before else text).lstrip(" ,.:;!¿¡–—-")
        if shorter == text:
            break
        text = shorter
    for _ in range(_MOST_TAKEN):
        begun = max(0, len(text) - _TAIL)  # the pattern tries every place there is
        after = _AFTER.search(text, begun)
        if after is None:
            break
        text = text[: after.start()]
    return text.strip()


def is_chatter(sentence: str) -> bool:
    """Whether a sentence only keeps company: the date, the weather, how one slept."""
    return _CHATTER.search(sentence) is not None
