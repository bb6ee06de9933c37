"""Words by what they do in instructions: those that carry nothing, those that say little, those that mean the same."""

from __future__ import annotations

from studio.spec.text.stems import stem


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
"""What requirements begin with: it says that something is wanted, not what."""

GENERIC = _stems(
    """email mail message text note file document report list section part item point title name word sentence
    paragraph page table content information detail data write draft prepare create add show describe explain identify
    list cover set keep work new first last main key core best good short long next day time case matter client
    complete send call tool app account step form format type kind number line end begin start opening related"""
)
"""Words of any office task: shared by request and intent they prove little."""

_GROUPS = """
email mail e-mail
text sms message
file document
draft write compose prepare produce create generate
show display present
short brief concise compact succinct terse
clear remove delete clean erase wipe purge
finish complete conclude
include add insert incorporate integrate contain
buy purchase order shop
only solely exclusively strictly
quick quickly fast rapid prompt immediate
table tabular grid matrix
client customer
supervisor boss manager
meeting appointment session call
assist help support
promote promotion advertise advertising market
check verify confirm validate review examine inspect
rank prioritise prioritize order sort
explain describe clarify outline elaborate
cheap inexpensive affordable low-cost
price cost fee
error mistake fault
deadline due
summary summarise summarize recap overview digest
compare comparison contrast versus
similar comparable alike analogous
reason rationale justification
recommend suggest propose advise recommendation
cite citation reference source
risk hazard danger
problem issue trouble
limit maximum cap most
least minimum
language wording phrasing
plain simple understandable straightforward
kid child
photo picture image
weekly week
daily day everyday
monthly month
annual yearly year
schedule timetable calendar agenda
reminder remind
save store keep
pick choose select
separate split distinct independent
numbered enumerate
bullet bulleted
combine merge consolidate unify single
begin start open opening
end close closing finish
update revise refresh amend modify change edit
reply answer respond response
ask request
avoid exclude omit skip
guess speculate assume assumption
wrong incorrect inaccurate
right correct accurate
attach attachment enclose
copy duplicate
doctor physician
medicine drug medication
patient client
employee staff worker
salary wage pay
house home
car vehicle
flight plane
near close nearby
budget spending
share percentage percent proportion
growth increase rise
drop decrease decline fall
current present ongoing
previous earlier prior last former
tidy neat clean
leftover residue remain remaining
untouched unchanged intact
paper article publication
study research investigation
author writer
method methodology approach
result finding outcome
dataset data
experiment trial test
figure chart graph plot diagram
abstract summary
novel new original
hypothesis assumption
dose dosage
side-effect adverse
allergy allergic
prescription prescribe
pharmacy dispensary
symptom sign
guideline recommendation guidance
stock share equity
revenue income earnings turnover
profit gain margin
loss deficit
invest investment portfolio
loan credit lend
interest yield
bank lender
forecast projection predict estimate
quarter quarterly
assess evaluate appraise judge
measure gauge
obtain receive get acquire
forward transfer pass
notify inform alert tell
urgent immediate critical
postpone delay defer reschedule
cancel withdraw
book reserve reservation booking
invite invitation
participant attendee guest
team group crew
office workplace
trip travel journey
hotel accommodation lodging
restaurant cafe
meal dish food
healthy nutritious
ill sick
tired exhausted fatigue
sleep rest insomnia
exercise workout training
pain ache sore
buyer consumer shopper
seller vendor supplier
competitor rival
goal aim objective target
plan strategy
slogan tagline motto
headline heading title
hook opener
story narrative
tone voice style
audience reader viewer
channel platform
feature function capability
drawback disadvantage downside con
benefit advantage upside pro
cause reason
effect impact consequence
trend development
background context
evidence proof
law statute legislation
rule regulation
court tribunal
contract agreement
clause provision
witness testimony
guess conjecture
prohibit forbid ban disallow
permit allow
mandatory compulsory obligatory
optional voluntary
duplicate double repeat
mix blend
equal same identical
different distinct differing
big large huge
small little tiny
cheap low
expensive costly
shorten condense trim
lengthen extend expand
translate translation
confidential private secret
public open
"""


def _synonyms() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(_GROUPS.strip().splitlines()):
        for word in line.split():
            groups.setdefault(stem(word), set()).add(number)
    return {key: frozenset(numbers) for key, numbers in groups.items()}


SYNONYMS = _synonyms()
"""Stem to the groups it belongs to; two stems with a group in common can stand for each other."""
