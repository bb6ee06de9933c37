"""Word lists: function words, words with little meaning in instructions, synonyms, phrases."""

from __future__ import annotations

from pathlib import Path

from studio.domain.text.stems import stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


FUNCTION = frozenset(
    """a an the this that these those it its he she they them their theirs his her hers him i me my mine we us our ours
    you your yours who whom whose which what where when why how and or but nor so yet if then than as at by for from in
    into of off on onto out over to up down with within about above across after again against along among around
    before behind below beneath beside besides between beyond during except inside near outside per since through
    throughout toward towards under until upon via am is are was were be been being do does did done doing have has had
    having will would shall should can could may might must ought need needs let lets there here also just very too
    quite rather even still already both either neither each every any some all such own same other another more most
    much many few less least no not none never nothing only without instead while whereas because though although
    however therefore thus etc e.g i.e eg ie vs s t re ve ll d m don doesn didn isn aren won please thanks one's
    whether whatever whichever anything something everything someone anyone everyone itself himself herself themselves
    myself yourself ourselves get gets got getting it'll i'll i'm i've we're they're that's it's don't doesn't can't
    won't isn't aren't wasn't couldn't shouldn't wouldn't haven't hasn't let's what's there's you're""".split()
)
"""In lower case, as written."""

NEGATIVE = frozenset(
    """no not none never nothing neither nor without avoid avoids avoiding avoided exclude excludes excluding excluded
    omit omits omitting omitted leave-out don't doesn't can't cannot won't isn't aren't wasn't shouldn't mustn't
    forbid forbids forbidden prohibit prohibits prohibited refrain""".split()
)

FRAME = _stems(
    """agent assistant user response respond reply answer output result final overall explicitly clearly specifically
    strictly mandatorily carefully properly correctly accurately successfully appropriately expressly concretely
    exactly directly automatically simply include contain state mention say tell give provide present ensure make use
    want need require expect prefer like appear help task request thing way able following respective relevant
    necessary appropriate specific explicit clear come exclusive sole dedicated"""
)
"""Words that introduce a requirement without saying what is required."""

GENERIC = _stems(
    """email mail message text note file document report list section part item point title name word sentence
    paragraph page table content information detail data write draft prepare create add show describe explain identify
    list cover set keep work new first last main key core best good short long next day time case matter client
    complete send call tool app account step form format type kind number line end begin start opening related
    % € £ $ ¥ eur euro usd dollar
    gbp pound rmb percent pct"""
)
"""Common in office tasks, so weak evidence when shared."""

COMMON = _stems(
    """able accept access act action actual add address agree aim allow already approach area arrange ask available
    avoid back background base become best big board body book bring build business call care carry case cause
    change check choose city clean clear close collect come common company complete concern condition confirm
    consider contact continue correct cost country create current cut daily date deal decide decision describe
    design determine develop different difficult direct discuss document draw drive early easy effect end enough
    event exist expect experience explain face fact fall far fast feel field figure fill find finish fit fix
    follow force free friendly full future general give go good great ground group grow half hand handle happen
    hard head hear help high hold home hope hour idea identify important improve increase inform inside interest
    issue join keep kind know large late lead learn leave less level life like limit list little live local look
    lose low main major manage mark matter mean measure meet member mention mind minute miss money month morning
    move name nature near need new next note number offer office old open option order organise original outcome
    own pass past pay people perform period person place plan play point position possible post power practical
    prepare present previous price problem process produce product project proper provide public put quality
    question quick range rate reach read ready real reason receive recent record reduce refer regular relate
    release remain remember remove replace request result return review right rise room run safe same save say
    school second section see seem select sell send sense serious serve service set share short show side sign
    similar simple single site size small social special specific staff stage stand standard start state stay
    step stop story strong structure study subject submit suggest suit support sure system table take talk
    target team tell term test thing think time today together tomorrow topic total touch travel treat true try
    turn type understand unit until update use user usual value various version view visit wait walk want warn
    watch way week well whole win wish word work world write wrong year young
    action active actor basic director difficulty driver factor news notice reality series signal specialist
    specification statement statistics suitable top typical worker"""
)
"""Everyday words: stronger evidence than GENERIC words, weaker than technical terms."""


LIGHT = _stems(
    """accord achieve allow appear apply approach aspect available base bring call carry case come consist contain cover
    depend deal do element ensure everything exist expect far fashion feature fit follow form get go handle hold include
    instance involve keep kind leave let look manner matter mean need occur offer one own part piece place possible
    provide put rely remain require respect run serve set single sort stand stay take target thing throughout treat try
    turn type use various way well well-suited whole either throughout roughly approximately simply actually really
    previously currently also strictly fully overall individual particular certain given mere purely entirely always"""
)
"""Connecting words, which differ between texts with the same meaning."""


def _lines(name: str) -> list[str]:
    text = (Path(__file__).parent / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _synonyms() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(_lines("thesaurus.txt")):
        for word in line.split():
            groups.setdefault(stem(word), set()).add(number)
    return {key: frozenset(numbers) for key, numbers in groups.items()}


SYNONYMS = _synonyms()
"""Synonym groups by stem; stems that share a group are synonyms."""


def _phrases() -> dict[tuple[str, ...], list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    phrases: dict[tuple[str, ...], list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in _lines("phrases.txt"):
        phrase, _, meaning = line.partition(" -> ")
        keys = tuple(stem(word) for word in phrase.split())
        phrases.setdefault(keys[:2], []).append((keys, tuple(meaning.split())))
    return phrases


PHRASES = _phrases()
"""By the first two keys of a phrase (or its only one): the keys of the phrase and the words it stands for."""
OPENERS = frozenset(keys[0] for keys in PHRASES)
