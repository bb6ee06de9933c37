"""Reviews of songs, albums and playlists."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evaluation.tools.apps.framework import Records, add_records
from evaluation.tools.apps.spotify.common import app, visible_playlist

WRITTEN = {
    "rating": (Annotated[int, Field(ge=1, le=5, description="1 to 5")], ...),
    "title": (Annotated[str, Field(max_length=200, description="Headline")], ""),
    "text": (Annotated[str, Field(max_length=10_000, description="What you think of it")], ""),
}

for what, table, visible in (
    ("song", "reviews", lambda call, number: call.state.songs.get(number)),
    ("album", "album_reviews", lambda call, number: call.state.albums.get(number)),
    ("playlist", "playlist_reviews", visible_playlist),
):
    add_records(
        app,
        Records(
            table,
            f"{what}_review",
            WRITTEN,
            about=f"{what}_id",
            found=f"From search_{what}s",
            visible=visible,
            once=True,
            names={"create": f"review_{what}"},
            done="written",
        ),
    )
