"""The app, and what all its APIs use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    App,
    Call,
    ConflictError,
    InvalidError,
    NotFoundError,
    add_account_apis,
    as_dict,
)
from evaluation.tools.apps.paying import add_card_apis, add_subscription_apis
from evaluation.tools.apps.spotify.state import Album, Library, Playlist, Song, SpotifyState

app = App(
    "spotify",
    SpotifyState,
    "Spotify",
    "Find music, like and save it, make playlists, play songs, write reviews.",
)
add_account_apis(app)
add_card_apis(app)
add_subscription_apis(app, "premium", {"monthly": (10.99, 30), "yearly": (109.0, 365)})

SpotifyCall = Call[SpotifyState]
SongId = Annotated[int, Field(description="From search_songs")]
AlbumId = Annotated[int, Field(description="From search_albums")]
ArtistId = Annotated[int, Field(description="From search_artists")]
PlaylistId = Annotated[int, Field(description="From search_playlists")]
SongReviewId = Annotated[int, Field(description="From show_song_reviews")]
Query = Annotated[str, Field(max_length=200, description="Words of the title or name; empty for all")]
Genre = Annotated[str, Field(max_length=100, description="One of show_genres")]
Rating = Annotated[float, Field(ge=0, le=5, description="Lowest rating, 0 to 5")]


def own_library(call: SpotifyCall) -> Library:
    return call.state.library_of(call.user)


def change_library(call: SpotifyCall, **changes: Any) -> None:
    call.state.libraries.put(replace(own_library(call), **changes))


def add_to(call: SpotifyCall, field: str, number: int, already: str) -> None:
    """Raises ConflictError."""
    numbers = getattr(own_library(call), field)
    if number in numbers:
        raise ConflictError(already)
    change_library(call, **{field: (*numbers, number)})


def remove_from(call: SpotifyCall, field: str, number: int, absent: str) -> None:
    """Raises InvalidError."""
    numbers = getattr(own_library(call), field)
    if number not in numbers:
        raise InvalidError(absent)
    change_library(call, **{field: tuple(each for each in numbers if each != number)})


def visible_playlist(call: SpotifyCall, playlist_id: int) -> Playlist:
    """Raises NotFoundError."""
    playlist = call.state.playlists.find(playlist_id)
    if playlist is None or not (playlist.is_public or playlist.owner == call.user):
        raise NotFoundError(f"There is no playlist with playlist_id {playlist_id}.")
    return playlist


def artists_shown(call: SpotifyCall, artist_ids: Iterable[int]) -> list[dict[str, Any]]:
    return [{"artist_id": number, "name": call.state.artists.get(number).name} for number in artist_ids]


def song_shown(call: SpotifyCall, song: Song) -> dict[str, Any]:
    shown = as_dict(song)
    shown["artists"] = artists_shown(call, shown.pop("artist_ids"))
    album = call.state.albums.find(song.album_id) if song.album_id is not None else None
    shown["album_title"] = album.title if album else ""
    shown["shareable_link"] = f"https://spotify.com/songs/{song.song_id}"
    return shown


def songs_shown(call: SpotifyCall, song_ids: Iterable[int]) -> list[dict[str, Any]]:
    return [song_shown(call, call.state.songs.get(number)) for number in song_ids]


def album_shown(call: SpotifyCall, album: Album) -> dict[str, Any]:
    shown = as_dict(album)
    shown["artists"] = artists_shown(call, shown.pop("artist_ids"))
    shown["song_ids"] = [song.song_id for song in call.state.songs.having("album_id", album.album_id)]
    shown["shareable_link"] = f"https://spotify.com/albums/{album.album_id}"
    return shown


def playlist_shown(call: SpotifyCall, playlist: Playlist) -> dict[str, Any]:
    shown = as_dict(playlist)
    owner = call.state.accounts.get(shown.pop("owner"))
    shown["owner"] = {"name": owner.name, "email": owner.username}
    shown["shareable_link"] = f"https://spotify.com/playlists/{playlist.playlist_id}"
    return shown
