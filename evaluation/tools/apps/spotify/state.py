from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.tools.apps.framework import AppState
from evaluation.tools.apps.paying import cards_table, overdrawn


@dataclass(frozen=True)
class Artist:
    artist_id: int
    name: str
    genre: str = ""
    follower_count: int = 0


@dataclass(frozen=True)
class Album:
    album_id: int
    title: str
    artist_ids: tuple[int, ...] = ()
    genre: str = ""
    rating: float = 0.0
    like_count: int = 0
    release_date: str = ""


@dataclass(frozen=True)
class Song:
    song_id: int
    title: str
    artist_ids: tuple[int, ...] = ()
    album_id: int | None = None
    genre: str = ""
    duration: int = 180
    """Seconds."""
    rating: float = 0.0
    play_count: int = 0
    like_count: int = 0
    release_date: str = ""


@dataclass(frozen=True)
class Playlist:
    playlist_id: int
    owner: str
    title: str
    song_ids: tuple[int, ...] = ()
    is_public: bool = False
    rating: float = 0.0
    like_count: int = 0
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class Library:
    """All that belongs to one listener."""

    username: str
    liked_songs: tuple[int, ...] = ()
    liked_albums: tuple[int, ...] = ()
    liked_playlists: tuple[int, ...] = ()
    songs: tuple[int, ...] = ()
    albums: tuple[int, ...] = ()
    downloaded_songs: tuple[int, ...] = ()
    followed_artists: tuple[int, ...] = ()
    queue: tuple[int, ...] = ()
    position: int = 0
    """Of the current song in the queue."""
    seconds: int = 0
    """From the start of the current song."""
    is_playing: bool = False
    is_looping: bool = False
    volume: int = 5


@dataclass(frozen=True)
class SongReview:
    song_review_id: int
    song_id: int
    author: str
    rating: int
    title: str = ""
    text: str = ""
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class AlbumReview:
    album_review_id: int
    album_id: int
    author: str
    rating: int
    title: str = ""
    text: str = ""
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class PlaylistReview:
    playlist_review_id: int
    playlist_id: int
    author: str
    rating: int
    title: str = ""
    text: str = ""
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class PremiumSubscription:
    premium_subscription_id: int
    owner: str
    plan: str
    price: float
    started_at: str
    ends_at: str


class SpotifyState(AppState):
    app = "spotify"

    def __init__(self) -> None:
        super().__init__()
        self.songs = self.table(
            "songs",
            Song,
            "song",
            {"artist_ids": "artists", "album_id": "albums"},
            "title artist_ids album_id genre rating duration",
        )
        by_artists = {"artist_ids": "artists"}
        self.albums = self.table("albums", Album, "album", by_artists, "title artist_ids genre rating release_date")
        self.artists = self.table("artists", Artist, "artist", {}, "name genre follower_count")
        self.playlists = self.table(
            "playlists",
            Playlist,
            "playlist",
            {"owner": "accounts", "song_ids": "songs"},
            "title owner song_ids is_public rating",
        )
        self.libraries = self.table(
            "libraries",
            Library,
            "library",
            {
                "username": "accounts",
                **dict.fromkeys(("liked_songs", "songs", "downloaded_songs", "queue"), "songs"),
                **dict.fromkeys(("liked_albums", "albums"), "albums"),
                "liked_playlists": "playlists",
                "followed_artists": "artists",
            },
            "username liked_songs songs albums queue",
        )
        texts = "title author rating text"
        self.reviews = self.table("reviews", SongReview, "review", {"song_id": "songs"}, f"{texts} song_id")
        self.table("album_reviews", AlbumReview, "review", {"album_id": "albums"}, f"{texts} album_id")
        self.table("playlist_reviews", PlaylistReview, "review", {"playlist_id": "playlists"}, f"{texts} playlist_id")
        self.cards = cards_table(self)
        self.table(
            "premium_subscriptions",
            PremiumSubscription,
            "premium subscription",
            {"owner": "accounts"},
            "plan owner price ends_at",
        )

    def complete(self) -> None:
        """Everybody has a library."""
        for account in self.accounts:
            self.library_of(account.username)

    def library_of(self, username: str) -> Library:
        return self.libraries.find(username) or self.libraries.put(Library(username))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        yield from overdrawn(self.cards)
        for library in self.libraries:
            if library.position >= max(len(library.queue), 1):
                yield f"libraries {library.username!r}: the current song is beyond the queue."
            for field in ("liked_songs", "liked_albums", "liked_playlists", "songs", "albums", "followed_artists"):
                numbers = getattr(library, field)
                if len(set(numbers)) != len(numbers):
                    yield f"libraries {library.username!r}: {field} has an entry twice."
        for playlist in self.playlists:
            if len(set(playlist.song_ids)) != len(playlist.song_ids):
                yield f"playlists {playlist.playlist_id}: it has a song twice."
