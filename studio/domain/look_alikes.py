"""Names that look alike though they are written otherwise. Pure.

After the skeletons of Unicode's TR39: letters that are taken for Latin ones, from its confusables.txt, for the
alphabets in which whole names can be written so.
"""

from __future__ import annotations

import unicodedata

_PAIRS = (
    ("iI1ı0", "llllo"),
    ("ɩɑɡ", "lag"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    ("аеорсухіјѕһԁԛԝѵӏгкьп", "aeopcyxijshdqwvlrkbn"),
    ("АВЕКМНОРСТУХІЈЅԚԜѴЬӀ", "abekmhopctyxljsqwvbl"),
    ("αικνορσυγχϲϳη", "aikvopouyxcjn"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "abezhlkmnoptyxc"),
    ("աւհօոսցզյՏԼՕՍ", "wlhonugqjslou"),
    ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏏᏒᏔᏕᏚᏙᏞᏟᏢᏦᏴᎩᏧᎿ", "drtajewmhgzbrwssvlcpkbydh"),
    ("ⲟⲣⲥⲏⲕⲙⲛⲧⲩⲭⲓ", "opchkmntyxi"),
    ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "bpdtgkjczfmnlsrvhwxyaelou"),
)
_LATIN = {ord(letter): latin for letters, latins in _PAIRS for letter, latin in zip(letters, latins, strict=True)}


def skeleton(name: str) -> str:
    """The same for names that look alike, in whatever width, case or alphabet; i is l, as I is."""
    return unicodedata.normalize("NFKC", name).translate(_LATIN).casefold().translate(_LATIN)
