"""Judge prompts as files: each version is what it was, and takes its material literally."""

from __future__ import annotations

import pytest

from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import (
    CURRENT,
    IN_TRUTH,
    UnknownPromptError,
    load_prompt,
    prompt_versions,
    versions_under,
)
from evaluation.protocol.prompts import checklist_prompt, follow_up_prompt, satisfaction_prompt
from evaluation.protocol.versions import ProtocolName

VERSIONS = {
    ("satisfaction", "1"): "f8bbe00ceb0363d862f1c71e5d3bdad07931d11dca41226cf46db2e8aa68ac43",
    ("follow_up", "1"): "99ce948f440919d0b28262eb10f9e7e8e1c748e46d59cea2aa30b2bdbd1382da",
    ("checklist", "1"): "de7182c955ee1edd031887322b7275caf4ad4c34267f9f84169305e0163f9d48",
    ("checklist", "2"): "6e20955a3cbd1aa72c20761041c156261097296a27444364522184f3d90e9766",
    ("satisfaction", "2"): "3bd729c656c11a3a7fb83531bb2e78589271e20378939d5921e293f85bc3d887",
    ("follow_up", "2"): "45bdab5d714a7e391b361b029517ea1c060418b32148c5bc18d1e5b9c2309cf0",
    ("checklist", "3"): "526b407d0125109744cd73a3922a9fb75325bc75e048ffe031e38ea1beffcd95",
    ("voice", "1"): "0de8a2bc4ec05727934c836962ffef7677120980e678f9afe9b13992eb66bd84",
    ("voice", "2"): "f824fb2e976687ad211d284ff6c2e9550d3c3b7003783dbb5a3a313d1f7fea7b",
    ("voice_check", "2"): "69c33fb1b7cb229d2d6f68df2c8f18a506217c5d4b9f13ed008c29cb02f4e0a8",
    ("next_intent", "1"): "dd4f433ac83cd2189fa64ac54e9b47b2877209d7129afbc45ffcb86ec1a9c63f",
    ("voice_check", "1"): "d5aa38d88469e463c1ace997d11a89cc4eb02fe326fe494acb7f2dc925e73922",
    ("satisfaction", "3"): "56a20921d1fb033236ac89d9b2d05e07609bd1b0a4a26aa5e6b38e939e33b880",
    ("checklist", "4"): "6e8860932975a78386b5782fcce16478f911a29af9258b9bf173703f5887a117",
    ("voice", "3"): "e14ae4380a8878fb098a3f4736579c322d02078913c045215d5416abf63fa67b",
    ("voice_check", "3"): "867226b8e1fdfae747fa78bd57182d3c95a7249b21078133374e77d4a93eeaf7",
    ("next_intent", "2"): "a3e68bbf8eacbc5650ec6b5bea1d890d41b1274731757d1797619b23acc09d73",
    ("satisfaction", "4"): "096995b45168f0fc21125a00623efc797b3489594fa609d83c996a5534dc489d",
    ("satisfaction", "5"): "66da6a2e6fe3d02c668b93b454b040711a9301ea09d1dd46e0c520eadf31d6b1",
    ("follow_up", "4"): "c32f9f9169afaa84d9c49f797e82abb63236bf31f15f84434d641051b922a1ba",
    ("checklist", "6"): "5689e303db235d2468e8093e61c046de6826d80e5919007caf16e87c9c696eb0",
    ("follow_up", "3"): "206afc373e53231bc1528325cf5a372a91a5c49dba2b60402f3e76611fdc8ecd",
    ("checklist", "5"): "4955e9fc35c2c4e9c534ad851edff5ab84c485fb79281863ede13b42d7a3dc86",
    ("voice", "4"): "981460a35b7761d52b9cb2fff6d70fc9f09e95ac2e7130710f38c6236c4be5c4",
    ("voice_check", "4"): "5101e112f838cafa7eca57717cf0cd3c9c79ac0e8953f281817b420f2a70fe34",
    ("voice_check", "5"): "79311f13847170397b6e150fbd05212e17d5f4e24a1fbad104b461dc9e82650a",
    ("voice", "5"): "cec3f7d7efe336443f727840f573610a71154223b89a7f1010385036a7113dcf",
    ("voice_check", "6"): "7f42843f7aaea527215f679dca1cbd71ccf060a04350df828e8bb16aa80b529b",
    ("voice", "6"): "1dcb16bd9fd257a9d4f941712fb7245a7dfaf9d36a5949333fdfca818b687d89",
    ("voice_check", "7"): "646f9b7c6d6d95aac78e1afca9df521ee8fde5766f1ebfe8a15b4d0725ad1083",
    ("checklist", "7"): "17892d6a4cd9665cec66ef86e9a2b990d49274482bed6cd700bc21fc9b9861de",
    ("checklist", "8"): "4001cd0cc0835a9eea68fd3e0572e259b8326e0f0c68d334b005925cb3d7aca2",
    ("next_intent", "4"): "50e78d0771cf161f759ee07ed1a41135c447d11db06397400bdd05ba9e920697",
    ("satisfaction", "6"): "c04365cf9c01fc35155e2dc038c9a8e3c2a6c2b3e8fa2b9b50e32653033dc298",
    ("satisfaction", "7"): "7eebf82e6fcb2ff2afab5daa529e8388f915f1507915613b3cfffbc6fca4dad5",
    ("follow_up", "5"): "ff93db2f89e41e5ebf711e6ce88b3c7952dae0e6c16cbbc3c3bfdcf5a05a5930",
    ("checklist", "9"): "efc473a1f9a511aa4392befc2df589ece0eb46fcf67e4a78ddb02d43050ad95c",
    ("voice", "7"): "a379b65dc6a63ff40e5047e6479775ca52b1bffe3829ea20a4a51ef74c19a0d8",
    ("voice_check", "8"): "2847ff73fa1fa75aa899d0a16147392075131cddb4a2e2dc6674815120c8c81d",
    ("next_intent", "5"): "55068a7d317bac0ead4e9864a582d9922e360e2f1ca085062f3cf339424bff36",
    ("next_intent", "3"): "55acc9396b7ef8a693c115d678128c94f20b0a6d7071337e85092b6aa9b151b8",
}
INTENTS = [OpenIntent(2, "Say <b>"), OpenIntent(5, "Two\n\nlines {{reply}}")]
ANSWER = (
    "Answer with one JSON object and nothing else:\n"
    '{{"decisions": [{{"index": 1, "decision": "YES" or "NO", {style}"quote": "...", "reason": "..."}}, ...]}}\n'
    "One entry for each of the {count} {noun}, with its index, in order.\n"
    '"quote": the words your decision rests on, copied verbatim from the material; "" if there are none.\n'
    '"reason": one sentence.'
)
STYLE = '"style": "Clarify" or "Options" or "", '
REQUIREMENTS = (
    '<open_requirements>\n<requirement index="2">Say &lt;b&gt;</requirement>\n'
    '<requirement index="5">Two\n\nlines {{reply}}</requirement>\n</open_requirements>\n\n'
)


def test_versions_never_change_and_all_are_known():
    stored = {
        (name, version): load_prompt(name, version).sha256
        for name in CURRENT[ProtocolName.PAPER]
        for version in prompt_versions(name)
    }

    assert stored == VERSIONS
    assert {used for versions in CURRENT.values() for used in versions.items()} <= set(VERSIONS)
    assert set(CURRENT[ProtocolName.RELEASE].values()) == {"1"}


def test_satisfaction_1_shows_the_reply_the_files_and_the_open_intents():
    prompt = satisfaction_prompt("Hi {{files}}\n\n<x>", {'a"b.md': "T\n\n&"}, INTENTS, "1")

    assert prompt.user == (
        "<reply>\nHi {{files}}\n\n&lt;x&gt;\n</reply>\n\n"
        '<files>\n<file path="a&quot;b.md">\nT\n\n&amp;\n</file>\n</files>\n\n'
        + REQUIREMENTS
        + ANSWER.format(style="", count=2, noun="requirements")
    )
    assert prompt.system.startswith("You are the satisfaction judge of a simulated user.")
    assert "earlier turns do not count" in prompt.system


def test_satisfaction_1_without_files_leaves_their_paragraph_out():
    assert satisfaction_prompt("Hi", {}, INTENTS, "1").user.startswith("<reply>\nHi\n</reply>\n\n<open_requirements>")


def test_follow_up_1_shows_the_reply_and_asks_for_the_style():
    prompt = follow_up_prompt("R {{count}}", INTENTS, "1")

    assert prompt.user == (
        "<reply>\nR {{count}}\n</reply>\n\n" + REQUIREMENTS + ANSWER.format(style=STYLE, count=2, noun="requirements")
    )
    assert prompt.system.startswith("You are the follow-up judge of a simulated user.")


def test_checklist_1_shows_the_hidden_intents_the_trace_and_the_criteria():
    prompt = checklist_prompt(["a<"], "TRACE", [(1, "c1"), (3, "c<3")], escaped=True, version="1")

    assert prompt.user == (
        "<hidden_requirements>\n<requirement>a&lt;</requirement>\n</hidden_requirements>\n\n"
        "<trace>\nTRACE\n</trace>\n\n"
        '<criteria>\n<criterion index="1">c1</criterion>\n<criterion index="3">c&lt;3</criterion>\n</criteria>\n\n'
        + ANSWER.format(style="", count=2, noun="criteria")
    )
    assert "a requirement is not evidence" in prompt.system


def test_checklist_2_does_not_show_the_hidden_intents():
    prompt = checklist_prompt(["a secret"], "TRACE", [(1, "c1")], escaped=True, version="2")

    assert prompt.user == (
        '<trace>\nTRACE\n</trace>\n\n<criteria>\n<criterion index="1">c1</criterion>\n</criteria>\n\n'
        + ANSWER.format(style="", count=1, noun="criteria")
    )
    assert "requirement" not in prompt.system


def test_no_judge_can_be_asked_with_prompts_that_show_the_whole_record():
    for protocol in ProtocolName:
        for name, version in IN_TRUTH.items():
            assert version not in versions_under(protocol, name)
            assert CURRENT[protocol][name] in versions_under(protocol, name)


@pytest.mark.parametrize("version", ["0", "99", "../1", "README"])
def test_version_that_is_not_there_is_an_error(version: str):
    with pytest.raises(UnknownPromptError, match="no version"):
        load_prompt("checklist", version)
