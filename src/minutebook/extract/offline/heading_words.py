"""Words by which a heading is cut, and words that name nothing."""

from __future__ import annotations

DANGLING = frozenset(
    """
    a an the and or but nor so to of in on at by for from with into onto via as than that which who
    whose when where while if because since until unless is are was were be been being has have had
    do does did can could will would should may might must not also its it's their our your my his
    her this these those some any each every both either about between through per using i we you
    then just only even very more most such like lets let's e.g i.e etc und oder der die das ein
    eine zu mit von für im in auf le la les un une de du des et ou à dans pour avec el los las y o
    en con para por del al causing making that's what's it's
    why how what whether
    isn't doesn't don't aren't wasn't won't can't didn't
    """.split()
)
GENERIC = DANGLING | frozenset(
    """fix open create commit push check look make do review update add change changes pr prs branch
    issue it one here there now again first next new work code main everything all go get see put
    run start continue sure ok needs need want what how why up out well back right there them me us
    thing things something please pull request requests mark expected hand over perform
    comprehensive thorough critical ready implement analyze analyse investigate address handle
    feature features comment comments finding findings feedback task tasks todo item items point
    points test tests file files folder directory step steps option suggestion suggested approach
    able best good better large small big quick quickly easy similar same other another still really
    earlier later currently current existing following full whole simplify cleanup clean verify
    validate double explain tell show give take write read find use used try think understand ask
    question questions answer help let apply done thinking talk doing
    subagent subagents sonnet opus haiku fable break multiple reviewing implementing suggestions
    implemented verified completely delete respond directly outstanding
    want out new above below i'm we're you're i've we've didn't that's there's what's
    """.split()
)
ROUTINE = frozenset(
    """rebase rebased conflict conflicts origin origin/main upstream parallel ci failure
    failures failing failed error errors lint linting linter pipeline checks
    plan context issues bug bugs already before after without instead repo repository codebase
    project projects program name names time run running runs implementation summary created added
    adding different two both way ways keep keeps set sets case cases maybe actually works working
    know uses example examples never fails real top always specific line lines ensure ones
    instruction instructions available correct root cause needed latest once section looks simple
    follow makes going structure merge merged locally wrong include kind flow goal rather having
    wait previous far broken met conditions various resolved approach practice practices reviewer
    coderabbit copilot found fixed inside outside
    within across under over against around during carefully thoroughly properly correctly
    follow-up follow-ups readme.md github analysis
    investigation push fixes jobs rerun re-run back main master e2e commits actions
    """.split()
)
CLAUSES = frozenset(
    """because which when while if since where but so that whereas unless until although though
    weil wenn damit dass sondern parce lorsque quand mais porque cuando aunque pero""".split()
)
CONTRASTS = frozenset("instead rather statt anstatt".split())
"""What begins with them says what the work is not: cut first where a sentence is too long."""
SAYING = frozenset(
    "mentions says shows means requires verifies assumes ensures suggests states notes".split()
)
ASKING = frozenset(
    """ask check confirm decide determine ensure explain find know mean prove say see show sure tell
    test think understand verify wonder clear out""".split()
)
INFINITIVE = frozenset(
    """able ability according allow allows attempt belongs chance due easier easy enough fails going
    hard has have how likely need needs option order ready related seems similar supposed
    thanks time tries try trying used want wants way ways what where""".split()
)
LETTERED = frozenset(
    "option plan step part phase variant version type case group drive disk vitamin".split()
)
"""What is called by a letter."""
RELATIVE = ("that", "which", "who")
JOINS = frozenset("and or then und oder et ou y o plus".split())
PREPOSITIONS = frozenset(
    """with for in on from by via using after before under into as at during without within across
    against inside through über mit für bei nach ohne avec pour dans sans sur con para sin
    to""".split()
)
