from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Spotify",
    "Find music, like and save it, make playlists, play songs, write reviews.",
    {
        "songs": TableView("song", ("title", "artist_ids", "album_id", "genre", "rating", "duration")),
        "albums": TableView("album", ("title", "artist_ids", "genre", "rating", "release_date")),
        "artists": TableView("artist", ("name", "genre", "follower_count")),
        "playlists": TableView("playlist", ("title", "owner", "song_ids", "is_public", "rating")),
        "libraries": TableView("library", ("username", "liked_songs", "songs", "albums", "queue")),
        "reviews": TableView("review", ("title", "song_id", "author", "rating", "text")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)
