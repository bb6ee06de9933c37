"""A file as people look at it: what it is, and what can safely be shown of it.

Everything here is handed over by strangers. What a file is, is seen in its bytes and not believed of its name; text is
escaped by whoever shows it; HTML leaves this package only sanitised; formats that need a parser of their own are read
in a process with little time and memory.
"""

from studio.files.previews.preview import Preview, preview
from studio.files.previews.sniff import MEDIA, is_media
from studio.files.previews.syntax import Flaw, syntax_flaw
from studio.files.previews.texts import Decoded, decode

__all__ = ["MEDIA", "Decoded", "Flaw", "Preview", "decode", "is_media", "preview", "syntax_flaw"]
