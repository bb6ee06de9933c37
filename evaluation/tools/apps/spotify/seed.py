"""What a persona's music may leave out, and data to start from."""

from __future__ import annotations

from typing import Any

from evaluation.tools.apps.spotify.state import Library, SpotifyState

EXAMPLE: dict[str, Any] = {
    "accounts": [{"username": "ada@example.com", "password": "music-of-ada", "first_name": "Ada", "last_name": "Berg"}],
    "artists": [{"artist_id": 1, "name": "The Harbour Lights", "genre": "folk"}],
    "albums": [{"album_id": 1, "title": "Low Tide", "artist_ids": [1], "genre": "folk", "rating": 4.2}],
    "songs": [
        {"song_id": 1, "title": "Lantern", "artist_ids": [1], "album_id": 1, "genre": "folk", "rating": 4.5},
        {"song_id": 2, "title": "Mooring", "artist_ids": [1], "album_id": 1, "genre": "folk", "rating": 3.9},
    ],
    "playlists": [{"playlist_id": 1, "owner": "ada@example.com", "title": "On the train", "song_ids": [1]}],
    "libraries": [{"username": "ada@example.com", "liked_songs": [1, 2]}],
}


def complete(state: SpotifyState) -> None:
    """Everybody has a library."""
    for account in state.accounts:
        library_of(state, account.username)


def library_of(state: SpotifyState, username: str) -> Library:
    return state.libraries.find(username) or state.libraries.put(Library(username))
