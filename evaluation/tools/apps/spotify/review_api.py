"""Reviews of songs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import ConflictError, ForbiddenError, Page, PageIndex, PageLimit, as_dict, paginate
from evaluation.tools.apps.spotify.common import SongId, SongReviewId, SpotifyCall, app
from evaluation.tools.apps.spotify.state import SongReview

Stars = Annotated[int, Field(ge=1, le=5, description="1 to 5")]
Title = Annotated[str, Field(max_length=200, description="Headline")]
Text = Annotated[str, Field(max_length=10_000, description="What you think of it")]


@app.api()
def show_song_reviews(call: SpotifyCall, song_id: SongId, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the reviews of a song."""
    call.state.songs.get(song_id)
    return paginate([each for each in call.state.reviews if each.song_id == song_id], page_index, page_limit, as_dict)


@app.api()
def show_song_review(call: SpotifyCall, song_review_id: SongReviewId) -> dict[str, Any]:
    """Show a review of a song."""
    return as_dict(call.state.reviews.get(song_review_id))


@app.api()
def review_song(
    call: SpotifyCall, song_id: SongId, rating: Stars, title: Title = "", text: Text = ""
) -> dict[str, Any]:
    """Write a review of a song; one for each song."""
    call.state.songs.get(song_id)
    if any(each.song_id == song_id and each.author == call.user for each in call.state.reviews):
        raise ConflictError("You have reviewed this song already. Change it with update_song_review.")
    number = call.state.reviews.next_id()
    call.state.reviews.put(SongReview(number, song_id, call.user, rating, title, text, call.stamp, call.stamp))
    return {"message": "The review was written.", "song_review_id": number}


@app.api()
def update_song_review(
    call: SpotifyCall,
    song_review_id: SongReviewId,
    rating: Stars | None = None,
    title: Title | None = None,
    text: Text | None = None,
) -> dict[str, Any]:
    """Change a review of yours. What is left out stays as it is."""
    review = call.state.reviews.get(song_review_id)
    if review.author != call.user:
        raise ForbiddenError("This review is somebody else's.")
    given = {"rating": rating, "title": title, "text": text}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    call.state.reviews.put(replace(review, updated_at=call.stamp, **changes))
    return {"message": "The review was updated."}
