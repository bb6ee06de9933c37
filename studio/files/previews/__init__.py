"""Safe previews of uploaded files.

Files come from strangers: their type is determined from their bytes, templates escape their text, HTML is sanitised
here, and formats that need a parser are read in a confined process.
"""

from studio.files.previews.preview import Preview, preview
from studio.files.previews.sniff import MEDIA, is_media
from studio.files.previews.texts import Decoded, SyntaxFlaw, decode, syntax_flaw

__all__ = ["MEDIA", "Decoded", "Preview", "SyntaxFlaw", "decode", "is_media", "preview", "syntax_flaw"]
