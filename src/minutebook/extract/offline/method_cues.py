"""Words that tell by which method something is worked on.

Listed for the same six languages as `cues`: in requests, commit subjects, closing words and names
of commands.
"""

from __future__ import annotations

import re

from minutebook.extract.offline.cues import holds
from minutebook.model.engagement import Method

# What is asked for, one hit for each method and prompt.
REQUESTS: tuple[tuple[Method, re.Pattern[str]], ...] = (
    (
        "review",
        holds(
            r"revi?ew(?:ing|ed)?|audit|double[- ]check|validate|verify|sanity check|critique"
            r"|check (?:if"
            r"|whether|that|the)|überprüf\w*|prüf\w*|durchsehen|begutacht\w*|vérifie\w*|relis"
            r"|relire"
            r"|examine|revis[ae]r?|verifica\w*|comprueba",
            r"レビュー|確認して|検証|审查|检查|评审|复查|核对",
        ),
    ),
    (
        "triage",
        holds(
            r"triage|backlog|prioriti[sz]e|review (?:comment|thread|finding|feedback)s?"
            r"|pr comments?"
            r"|findings?|feedback|coderabbit|bugbot|copilot comments?|address (?:the "
            r"|these )?\w* ?comments"
            r"|open (?:issues|comments|todos)|sichte\w*|priorisier\w*|offene (?:punkte|issues)"
            r"|priorise\w*|commentaires|prioriza\w*|comentarios|pendientes",
            r"優先順位|指摘|課題一覧|分类|优先级|评论|反馈|待办",
        ),
    ),
    (
        "debug",
        holds(
            r"fix(?:es|ed)?|bugs?|debug|broken|crash\w*|fail(?:s|ed|ing|ure|ures)?|hangs?|hanging"
            r"|regression|traceback|exception|panic|root cause|flaky|errors?|(?:doesn'?t|does not"
            r"|isn'?t|not|no longer|never) (?:work|seem|show|appl|load|appear)\w*|missing|wrong"
            r"|incorrect|fehler|kaputt|behebe?n?|abst[uü]rz\w*|funktioniert nicht|schlägt fehl"
            r"|bogue|erreurs?|corrige[rz]?|plante|cassé|ne (?:marche|fonctionne) pas|fallos?|falla"
            r"|arregla\w*|corrig\w+|no funciona|roto",
            r"バグ|エラー|修正|直して|落ちる|失敗|動かない|原因|错误|修复|崩溃|失败|报错|不工作|问题",
        ),
    ),
    (
        "reorg",
        holds(
            r"refactor\w*|renam\w+|reorgani[sz]\w*|restructur\w*|clean(?:ing)? ?up|tidy|simplif\w+"
            r"|migrat\w+|extract (?:into|out)|consolidate|de-?dup\w*|duplicat\w+|squash\w*"
            r"|rework\w*"
            r"|rewrite|strip|deprecate\w*|upgrade|bump|convert|remove|delete|drop|replace"
            r"|get rid of"
            r"|inline|move|umbenenn\w*|benenne|aufräum\w*|umbau\w*|verschieb\w*|entfern\w*"
            r"|ersetze?n?"
            r"|vereinfach\w*|renomme\w*|réorganis\w*|nettoie\w*|déplace\w*|supprim\w*|remplac\w*"
            r"|simplifie\w*|renombra\w*|reorganiza\w*|limpia\w*|mueve|elimina\w*|reemplaza\w*"
            r"|simplifica\w*|refactoriza\w*",
            r"リファクタ|整理|移動|名前を変|削除|置き換|移行|重构|重命名|移动|删除|替换|简化|清理|迁移",
        ),
    ),
    (
        "design",
        holds(
            r"brainstorm\w*|architect\w*|propos(?:e|al)|rfc|pros and cons|trade-?offs?"
            r"|approach(?:es)?"
            r"|how (?:should|would|could) (?:we|i|you|this)|what if we|design(?:ing)?|specs?"
            r"|concept"
            r"|mock-?ups?|entwurf|entwerf\w*|konzept|architektur|wie sollten? wir|conception"
            r"|conçois"
            r"|concevoir|proposition|diseñ\w+|propuesta|arquitectura|enfoque",
            r"設計|アーキテクチャ|提案|案を|设计|架构|方案|思路",
        ),
    ),
    (
        "plan",
        holds(
            r"(?:make|write|create|draft|come up with) (?:me )?(?:a|an|the) (?:\w+ )?plan|roadmap"
            r"|plan (?:for|out|how)|planning|milestones?|phases?|tasks? list|break (?:it|this) down"
            r"|plane?n?|fahrplan|planifi\w+|feuille de route|planifica\w*|hoja de ruta",
            r"計画|ロードマップ|段取り|计划|规划|路线图",
        ),
    ),
    (
        "write",
        holds(
            r"docs?|documentation|readme|blog|post|article|changelog|description|release notes"
            r"|guide"
            r"|tutorial|announcement|email|summar(?:y|ize)|proofread|reword|rephrase|wording|copy"
            r"|agents\.md|dokumentier\w*|dokumentation|beschreibung|schreibe?n?"
            r"|zusammenfass\w*|documente\w*|rédige\w*|résum\w+|documenta\w*|redacta\w*|escribe"
            r"|resum\w+|descripción",
            r"ドキュメント|文書|説明文|要約|書いて|文档|撰写|描述|总结|写一",
        ),
    ),
    (
        "deploy",
        holds(
            r"deploy\w*|releas\w+|publish\w*|roll ?out|merge conflicts?|merge issues"
            r"|cherry[- ]pick|rebase"
            r"|provision|conflicts?|ready to merge|merge|install(?:ed|ing)?|homebrew|ci|pipeline"
            r"|env(?:ironment)?"
            r"|bereitstell\w*|veröffentlich\w*|ausroll\w*|installier\w*|déploie\w*|déployer"
            r"|publie\w*"
            r"|installe\w*|fusionne\w*|despliega\w*|desplegar|publica\w*|instala\w*|fusiona\w*",
            r"デプロイ|リリース|公開|マージ|インストール|部署|发布|上线|合并|安装",
        ),
    ),
    (
        "research",
        holds(
            r"research|investigate|explor(?:e|ing)|compare|look into|find out|evaluate|survey"
            r"|figure out"
            r"|understand (?:how|why|what)|what are (?:the|our|my) options|analy[sz]e|measure"
            r"|benchmark"
            r"|recherchier\w*|untersuch\w*|vergleich\w*|herausfinden|analysier\w*|recherche\w*"
            r"|compar\w+"
            r"|analyse\w*|investiga\w*|analiza\w*|averigua\w*",
            r"調べて|調査|比較|分析|研究|调查|比较|了解|查一下",
        ),
    ),
    (
        "discuss",
        holds(
            r"explain|tell me|what (?:is|are|does|do|happens)|why (?:is|are|does|do|did)"
            r"|how (?:does|do"
            r"|is)|help me understand|question|thoughts|opinion|right\?|makes sense|erklär\w*"
            r"|was (?:ist"
            r"|sind|bedeutet)|warum|frage|expliqu\w+|qu'est-ce|pourquoi|explica\w*|qué (?:es|son"
            r"|significa)|por qué|pregunta",
            r"説明|教えて|とは|なぜ|どういう|解释|说明|什么是|为什么|讨论",
        ),
    ),
    (
        "build",
        holds(
            r"add|create|implement|build|introduce|support|generate|integrate|scaffold|set up"
            r"|wire|extend"
            r"|enable|feature|make|change|adjust|tests?|show|use|hinzufüg\w*|füge|erstell\w*|bau\w*"
            r"|implementier\w*|neue funktion|ajout\w*|crée\w*|créer|implémente\w*|construi\w*"
            r"|añad\w+"
            r"|agrega\w*|crea\w*|implementa\w*|construye|genera\w*",
            r"追加|作成|作って|実装|生成|添加|创建|实现|新增|生成|增加|构建",
        ),
    ),
)
# What commits and closing words say was done.
DEEDS: tuple[tuple[Method, re.Pattern[str]], ...] = (
    ("build", re.compile(r"^(?:feat|add|implement|test|support|introduce)")),
    ("debug", re.compile(r"^(?:fix|bugfix|hotfix|prevent|handle)")),
    (
        "reorg",
        re.compile(
            r"^(?:refactor|chore|style|rename|remove|simplif|move|clean|perf|drop|replace|bump)"
        ),
    ),
    ("write", re.compile(r"^(?:docs?\b|document|readme|changelog)")),
    ("deploy", re.compile(r"^(?:release|ci|build|bump|merge|deploy)")),
    ("plan", re.compile(r"^(?:plan|roadmap|docs?\([^)]*\): .{0,30}(?:plan|phase|roadmap))")),
)
CLOSINGS: tuple[tuple[Method, re.Pattern[str]], ...] = (
    (
        "debug",
        holds(
            r"root cause|the (?:bug|problem|issue|culprit|fix) (?:is|was)|what broke|fixed|the fix",
            r"原因|修正しました|已修复",
        ),
    ),
    (
        "reorg",
        holds(
            r"renamed|removed|deleted|replaced|migrated|refactored|consolidated|squashed"
            r"|simplified",
            r"削除しました|置き換え|已删除|已替换|重构",
        ),
    ),
    ("review", holds(r"verdict|review report|findings?|looks? (?:good|correct|solid)|approve")),
    (
        "build",
        holds(
            r"added|implemented|created|built|tests? pass(?:es|ing)?", r"追加しました|实现了|已添加"
        ),
    ),
    (
        "deploy",
        holds(r"merged|deployed|released|ci is green|rebased|force-pushed|tagged|installed"),
    ),
    (
        "triage",
        holds(r"not (?:valid|applicable|an issue)|false positives?|deferred|addressed|resolved"),
    ),
    ("write", holds(r"updated the (?:docs?|readme|documentation)|description|summary")),
    ("design", holds(r"option [a-d1-4]|approach(?:es)?|trade-?offs?|recommend(?:ation|ed)?")),
    ("plan", holds(r"plan (?:is )?(?:ready|complete|written)|phase \d|steps?|todo")),
    ("discuss", holds(r"yes[,.—]|no[,.—]|exactly|correct|you'?re right|because|in short")),
)
COMMANDS: tuple[tuple[Method, re.Pattern[str]], ...] = (
    ("triage", re.compile(r"pr-review|pr-comments|address|triage|todo")),
    ("review", re.compile(r"review|audit|check")),
    ("reorg", re.compile(r"simplify|refactor|clean|reorg")),
    ("design", re.compile(r"brainstorm|design|discuss|architect")),
    ("plan", re.compile(r"plan|roadmap|phase|milestone")),
    ("debug", re.compile(r"debug|fix|diagnos")),
    ("research", re.compile(r"research|explore|investigat")),
    ("deploy", re.compile(r"deploy|release|ship|merge|install|plugin|mcp")),
    ("write", re.compile(r"doc|changelog|readme|write|init")),
    ("build", re.compile(r"execute|build|implement|quick|feature|test")),
)
