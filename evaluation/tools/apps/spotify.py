"""Music: songs, albums, artists, playlists, a library, a player."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    Records,
    Table,
    add_account_apis,
    add_records,
    as_dict,
    given,
    rank,
    search_people,
)
from evaluation.tools.apps.paying import CARDS, add_card_apis, add_subscription_apis, overdrawn


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
    songs = Table(
        Song,
        "song",
        "title artist_ids album_id genre rating duration",
        {"artist_ids": "artists", "album_id": "albums"},
    )
    albums = Table(Album, "album", "title artist_ids genre rating release_date", {"artist_ids": "artists"})
    artists = Table(Artist, "artist", "name genre follower_count")
    playlists = Table(Playlist, "playlist", "title owner song_ids is_public rating", OWNED | {"song_ids": "songs"})
    libraries = Table(
        Library,
        "library",
        "username liked_songs songs albums queue",
        {
            "username": "accounts",
            **dict.fromkeys(("liked_songs", "songs", "downloaded_songs", "queue"), "songs"),
            **dict.fromkeys(("liked_albums", "albums"), "albums"),
            "liked_playlists": "playlists",
            "followed_artists": "artists",
        },
    )
    reviews = Table(SongReview, "review", "title author rating text song_id", {"song_id": "songs"})
    album_reviews = Table(AlbumReview, "review", "title author rating text album_id", {"album_id": "albums"})
    playlist_reviews = Table(
        PlaylistReview, "review", "title author rating text playlist_id", {"playlist_id": "playlists"}
    )
    payment_cards = CARDS
    premium_subscriptions = Table(PremiumSubscription, "premium subscription", "plan owner price ends_at", OWNED)

    def complete(self) -> None:
        """Everybody has a library."""
        for account in self.accounts:
            self.library_of(account.username)

    def library_of(self, username: str) -> Library:
        return self.libraries.find(username) or self.libraries.put(Library(username))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        yield from overdrawn(self.payment_cards)
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


FOUND: dict[str, Callable[[SpotifyCall, int], Any]] = {
    "song": lambda call, number: call.state.songs.get(number),
    "album": lambda call, number: call.state.albums.get(number),
    "playlist": visible_playlist,
}
"""What people like and review. Raises NotFoundError for what they may not see."""


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


# What a listener likes, saves and collects.

Title = Annotated[str, Field(min_length=1, max_length=200, description="Title of the playlist")]


def _add_likes(what: str, find: Callable[[SpotifyCall, int], Any]) -> None:
    key, liked, some = f"{what}_id", f"liked_{what}s", f"{'an' if what == 'album' else 'a'} {what}"
    which = {key: (Annotated[int, Field(description=f"From search_{what}s")], ...)}

    @app.api(f"like_{what}", f"Like {some}.", which)
    def like(call: SpotifyCall, **given: int) -> dict[str, Any]:
        record = find(call, given[key])
        add_to(call, liked, given[key], f"You like this {what} already.")
        call.state.tables[f"{what}s"].put(replace(record, like_count=record.like_count + 1))
        return {"message": f"You like the {what}."}

    @app.api(f"unlike_{what}", f"Take back a like of {some}.", which)
    def unlike(call: SpotifyCall, **given: int) -> dict[str, Any]:
        record = find(call, given[key])
        remove_from(call, liked, given[key], f"You have not liked this {what}.")
        call.state.tables[f"{what}s"].put(replace(record, like_count=max(record.like_count - 1, 0)))
        return {"message": f"You like the {what} no longer."}


for what, find in FOUND.items():
    _add_likes(what, find)


@app.api(page=5)
def show_liked_playlists(call: SpotifyCall) -> Iterable[Any]:
    """List the playlists you like."""
    liked = [call.state.playlists.get(number) for number in own_library(call).liked_playlists]
    visible = [playlist for playlist in liked if playlist.is_public or playlist.owner == call.user]
    return map(partial(playlist_shown, call), visible)


@app.api()
def show_song_privates(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Tell whether you like a song, and have it in your library, among your downloads, in your playlists."""
    call.state.songs.get(song_id)
    library = own_library(call)
    playlists = [each for each in call.state.playlists if each.owner == call.user and song_id in each.song_ids]
    return {
        "liked": song_id in library.liked_songs,
        "in_song_library": song_id in library.songs,
        "downloaded": song_id in library.downloaded_songs,
        "playlist_ids": [each.playlist_id for each in playlists],
        "reviewed": any(each.author == call.user for each in call.state.reviews.having("song_id", song_id)),
    }


@app.api()
def show_album_privates(call: SpotifyCall, album_id: AlbumId) -> dict[str, Any]:
    """Tell whether you like an album and have it in your library."""
    call.state.albums.get(album_id)
    library = own_library(call)
    return {"liked": album_id in library.liked_albums, "in_album_library": album_id in library.albums}


@app.api()
def show_playlist_privates(call: SpotifyCall, playlist_id: PlaylistId) -> dict[str, Any]:
    """Tell whether you like a playlist, and whether it is yours."""
    playlist = visible_playlist(call, playlist_id)
    return {"liked": playlist_id in own_library(call).liked_playlists, "is_yours": playlist.owner == call.user}


@app.api(page=5)
def show_liked_songs(call: SpotifyCall) -> Iterable[Any]:
    """List the songs you like."""
    return _songs(call, "liked_songs")


@app.api(page=5)
def show_liked_albums(call: SpotifyCall) -> Iterable[Any]:
    """List the albums you like."""
    return (album_shown(call, call.state.albums.get(each)) for each in own_library(call).liked_albums)


@app.api(page=5)
def show_song_library(call: SpotifyCall) -> Iterable[Any]:
    """List the songs in your library."""
    return _songs(call, "songs")


@app.api()
def add_song_to_library(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Put a song into your library."""
    call.state.songs.get(song_id)
    add_to(call, "songs", song_id, "The song is in your library already.")
    return {"message": "The song is in your library."}


@app.api()
def remove_song_from_library(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Take a song out of your library."""
    remove_from(call, "songs", song_id, "The song is not in your library.")
    return {"message": "The song is in your library no longer."}


@app.api(page=5)
def show_album_library(call: SpotifyCall) -> Iterable[Any]:
    """List the albums in your library."""
    return (album_shown(call, call.state.albums.get(each)) for each in own_library(call).albums)


@app.api()
def add_album_to_library(call: SpotifyCall, album_id: AlbumId) -> dict[str, Any]:
    """Put an album into your library."""
    call.state.albums.get(album_id)
    add_to(call, "albums", album_id, "The album is in your library already.")
    return {"message": "The album is in your library."}


@app.api()
def remove_album_from_library(call: SpotifyCall, album_id: AlbumId) -> dict[str, Any]:
    """Take an album out of your library."""
    remove_from(call, "albums", album_id, "The album is not in your library.")
    return {"message": "The album is in your library no longer."}


@app.api(page=5)
def show_downloaded_songs(call: SpotifyCall) -> Iterable[Any]:
    """List the songs you have downloaded."""
    return _songs(call, "downloaded_songs")


@app.api()
def download_song(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Download a song."""
    call.state.songs.get(song_id)
    add_to(call, "downloaded_songs", song_id, "The song is downloaded already.")
    return {"message": "The song was downloaded."}


@app.api()
def remove_downloaded_song(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Remove a downloaded song."""
    remove_from(call, "downloaded_songs", song_id, "The song is not downloaded.")
    return {"message": "The downloaded song was removed."}


@app.api(alias="show_following_artists", page=5)
def show_artist_following(call: SpotifyCall) -> Iterable[Any]:
    """List the artists you follow."""
    return (call.state.artists.get(number) for number in own_library(call).followed_artists)


@app.api()
def follow_artist(call: SpotifyCall, artist_id: ArtistId) -> dict[str, Any]:
    """Follow an artist."""
    artist = call.state.artists.get(artist_id)
    add_to(call, "followed_artists", artist_id, "You follow this artist already.")
    call.state.artists.put(replace(artist, follower_count=artist.follower_count + 1))
    return {"message": "You follow the artist."}


@app.api()
def unfollow_artist(call: SpotifyCall, artist_id: ArtistId) -> dict[str, Any]:
    """Stop following an artist."""
    artist = call.state.artists.get(artist_id)
    remove_from(call, "followed_artists", artist_id, "You do not follow this artist.")
    call.state.artists.put(replace(artist, follower_count=max(artist.follower_count - 1, 0)))
    return {"message": "You follow the artist no longer."}


@app.api(page=5)
def show_playlist_library(call: SpotifyCall) -> Iterable[Any]:
    """List the playlists you have created."""
    return (playlist_shown(call, playlist) for playlist in call.state.playlists if playlist.owner == call.user)


@app.api()
def create_playlist(
    call: SpotifyCall, title: Title, is_public: Annotated[bool, Field(description="Whether others see it")] = False
) -> dict[str, Any]:
    """Create a playlist."""
    number = call.state.playlists.next_id()
    call.state.playlists.put(
        Playlist(number, call.user, title, is_public=is_public, created_at=call.stamp, updated_at=call.stamp)
    )
    return {"message": "The playlist was created.", "playlist_id": number}


@app.api()
def update_playlist(
    call: SpotifyCall,
    playlist_id: PlaylistId,
    title: Title | None = None,
    is_public: Annotated[bool | None, Field(description="Whether others see it")] = None,
) -> dict[str, Any]:
    """Change the title of a playlist of yours, or who can see it."""
    changes = given(title=title, is_public=is_public)
    call.state.playlists.put(replace(_own(call, playlist_id), updated_at=call.stamp, **changes))
    return {"message": "The playlist was updated."}


@app.api()
def delete_playlist(call: SpotifyCall, playlist_id: PlaylistId) -> dict[str, Any]:
    """Delete a playlist of yours."""
    _own(call, playlist_id)
    for library in [each for each in call.state.libraries if playlist_id in each.liked_playlists]:
        liked = tuple(number for number in library.liked_playlists if number != playlist_id)
        call.state.libraries.put(replace(library, liked_playlists=liked))
    for review in call.state.tables["playlist_reviews"].having("playlist_id", playlist_id):
        call.state.tables["playlist_reviews"].remove(review.playlist_review_id)
    call.state.playlists.remove(playlist_id)
    return {"message": "The playlist was deleted."}


@app.api()
def add_song_to_playlist(call: SpotifyCall, playlist_id: PlaylistId, song_id: SongId) -> dict[str, Any]:
    """Add a song to a playlist of yours."""
    playlist = _own(call, playlist_id)
    call.state.songs.get(song_id)
    if song_id in playlist.song_ids:
        raise ConflictError("The song is in the playlist already.")
    call.state.playlists.put(replace(playlist, song_ids=(*playlist.song_ids, song_id), updated_at=call.stamp))
    return {"message": "The song was added to the playlist."}


@app.api()
def remove_song_from_playlist(call: SpotifyCall, playlist_id: PlaylistId, song_id: SongId) -> dict[str, Any]:
    """Remove a song from a playlist of yours."""
    playlist = _own(call, playlist_id)
    if song_id not in playlist.song_ids:
        raise InvalidError("The song is not in the playlist.")
    rest = tuple(number for number in playlist.song_ids if number != song_id)
    call.state.playlists.put(replace(playlist, song_ids=rest, updated_at=call.stamp))
    return {"message": "The song was removed from the playlist."}


def _songs(call: SpotifyCall, field: str) -> Iterable[Any]:
    return (song_shown(call, call.state.songs.get(number)) for number in getattr(own_library(call), field))


def _own(call: SpotifyCall, playlist_id: int) -> Playlist:
    playlist = visible_playlist(call, playlist_id)
    if playlist.owner != call.user:
        raise ForbiddenError("This playlist is somebody else's.")
    return playlist


# The player and its queue.


@app.api()
def play_music(
    call: SpotifyCall,
    song_id: SongId | None = None,
    album_id: AlbumId | None = None,
    playlist_id: PlaylistId | None = None,
    queue_position: Annotated[int | None, Field(ge=0, description="A song of the queue, from 0")] = None,
) -> dict[str, Any]:
    """Play a song, an album, a playlist or a song of the queue; without any of these, go on playing."""
    given = [each for each in (song_id, album_id, playlist_id, queue_position) if each is not None]
    if len(given) > 1:
        raise InvalidError("Give only one of song_id, album_id, playlist_id and queue_position.")
    library = own_library(call)
    queue, position = library.queue, library.position
    if queue_position is not None:
        position = queue_position
    elif given:
        queue, position = _songs_to_play(call, song_id, album_id, playlist_id), 0
    if not queue:
        raise InvalidError("There is nothing to play.")
    if position >= len(queue):
        raise InvalidError(f"The queue has only {len(queue)} songs.")
    seconds = 0 if given else library.seconds
    change_library(call, queue=queue, position=position, seconds=seconds, is_playing=True)
    song = call.state.songs.get(queue[position])
    call.state.songs.put(replace(song, play_count=song.play_count + 1))
    return {"message": f"Now playing {song.title!r}.", "song_id": song.song_id}


@app.api()
def pause_music(call: SpotifyCall) -> dict[str, Any]:
    """Pause the music."""
    if not own_library(call).is_playing:
        raise InvalidError("No music is playing.")
    change_library(call, is_playing=False)
    return {"message": "The music is paused."}


@app.api()
def next_song(call: SpotifyCall) -> dict[str, Any]:
    """Go to the next song of the queue."""
    return _go(call, 1)


@app.api()
def previous_song(call: SpotifyCall) -> dict[str, Any]:
    """Go back to the previous song of the queue."""
    return _go(call, -1)


@app.api()
def show_current_song(call: SpotifyCall) -> dict[str, Any]:
    """Show the current song and whether it is playing."""
    library = own_library(call)
    if not library.queue:
        raise NotFoundError("There is no current song: the queue is empty.")
    song = song_shown(call, call.state.songs.get(library.queue[library.position]))
    at = {"queue_position": library.position, "seconds": library.seconds}
    return {**song, "is_playing": library.is_playing, **at}


@app.api()
def seek_song(
    call: SpotifyCall, seek_seconds: Annotated[int, Field(ge=0, description="From the start of the song")]
) -> dict[str, Any]:
    """Go to another place in the current song."""
    library = own_library(call)
    if not library.queue:
        raise NotFoundError("There is no current song: the queue is empty.")
    song = call.state.songs.get(library.queue[library.position])
    if seek_seconds > song.duration:
        raise InvalidError(f"{song.title!r} has only {song.duration} seconds.")
    change_library(call, seconds=seek_seconds)
    return {"message": f"{song.title!r} is at second {seek_seconds}."}


@app.api()
def show_song_queue(call: SpotifyCall) -> list[dict[str, Any]]:
    """List the songs in the queue."""
    library = own_library(call)
    return [
        {"position": position, "is_current": position == library.position, **song}
        for position, song in enumerate(songs_shown(call, library.queue))
    ]


@app.api()
def add_to_queue(
    call: SpotifyCall,
    song_id: SongId | None = None,
    album_id: AlbumId | None = None,
    playlist_id: PlaylistId | None = None,
) -> dict[str, Any]:
    """Add a song, or the songs of an album or playlist, to the end of the queue."""
    if sum(each is not None for each in (song_id, album_id, playlist_id)) != 1:
        raise InvalidError("Give one of song_id, album_id and playlist_id.")
    added = _songs_to_play(call, song_id, album_id, playlist_id)
    queue = (*own_library(call).queue, *added)
    if len(queue) > 500:
        raise InvalidError("The queue holds at most 500 songs.")
    change_library(call, queue=queue)
    return {"message": f"{len(added)} {'song' if len(added) == 1 else 'songs'} added to the queue."}


@app.api()
def remove_song_from_queue(
    call: SpotifyCall, position: Annotated[int, Field(ge=0, description="In the queue, from 0")]
) -> dict[str, Any]:
    """Remove a song from the queue."""
    library = own_library(call)
    if position >= len(library.queue):
        raise InvalidError(f"The queue has only {len(library.queue)} songs.")
    queue = (*library.queue[:position], *library.queue[position + 1 :])
    current = library.position - (position < library.position)
    current = min(current, max(len(queue) - 1, 0))
    change_library(call, queue=queue, position=current, is_playing=library.is_playing and bool(queue))
    return {"message": "The song was removed from the queue."}


@app.api()
def move_song_in_queue(
    call: SpotifyCall,
    current_position: Annotated[int, Field(ge=0, description="In the queue, from 0")],
    new_position: Annotated[int, Field(ge=0, description="In the queue, from 0")],
) -> dict[str, Any]:
    """Move a song of the queue to another position."""
    library = own_library(call)
    if max(current_position, new_position) >= len(library.queue):
        raise InvalidError(f"The queue has only {len(library.queue)} songs.")
    order = list(range(len(library.queue)))
    order.insert(new_position, order.pop(current_position))
    queue = tuple(library.queue[each] for each in order)
    change_library(call, queue=queue, position=order.index(library.position))
    return {"message": "The song was moved."}


@app.api()
def shuffle_song_queue(call: SpotifyCall) -> dict[str, Any]:
    """Shuffle the songs of the queue; the current one comes first."""
    library = own_library(call)
    if not library.queue:
        raise InvalidError("The queue is empty.")
    rest = [*library.queue[: library.position], *library.queue[library.position + 1 :]]
    rest.sort(key=lambda number: hashlib.sha256(f"{call.stamp} {number}".encode()).digest())
    change_library(call, queue=(library.queue[library.position], *rest), position=0)
    return {"message": "The queue was shuffled."}


@app.api()
def loop_song(
    call: SpotifyCall, loop: Annotated[bool, Field(description="False stops repeating it")] = True
) -> dict[str, Any]:
    """Repeat the current song."""
    change_library(call, is_looping=loop)
    return {"message": "The current song is repeated." if loop else "The current song is repeated no longer."}


@app.api()
def show_volume(call: SpotifyCall) -> dict[str, Any]:
    """Show how loud the music is, 0 to 10."""
    return {"volume": own_library(call).volume}


@app.api()
def set_volume(call: SpotifyCall, volume: Annotated[int, Field(ge=0, le=10, description="0 to 10")]) -> dict[str, Any]:
    """Set how loud the music is."""
    change_library(call, volume=volume)
    return {"message": f"The volume is {volume}."}


@app.api()
def clear_song_queue(call: SpotifyCall) -> dict[str, Any]:
    """Empty the queue."""
    change_library(call, queue=(), position=0, is_playing=False)
    return {"message": "The queue is empty."}


def _songs_to_play(
    call: SpotifyCall, song_id: int | None, album_id: int | None, playlist_id: int | None
) -> tuple[int, ...]:
    if song_id is not None:
        return (call.state.songs.get(song_id).song_id,)
    if album_id is not None:
        call.state.albums.get(album_id)
        return tuple(song.song_id for song in call.state.songs if song.album_id == album_id)
    return visible_playlist(call, playlist_id or 0).song_ids


def _go(call: SpotifyCall, step: int) -> dict[str, Any]:
    library = own_library(call)
    if not library.queue:
        raise InvalidError("The queue is empty.")
    return play_music(call, queue_position=(library.position + step) % len(library.queue))


# Reviews of songs, albums and playlists.

WRITTEN = {
    "rating": (Annotated[int, Field(ge=1, le=5, description="1 to 5")], ...),
    "title": (Annotated[str, Field(max_length=200, description="Headline")], ""),
    "text": (Annotated[str, Field(max_length=10_000, description="What you think of it")], ""),
}

for what, table in (("song", "reviews"), ("album", "album_reviews"), ("playlist", "playlist_reviews")):
    add_records(
        app,
        Records(
            table,
            f"{what}_review",
            WRITTEN,
            about=f"{what}_id",
            found=f"From search_{what}s",
            visible=FOUND[what],
            once=True,
            names={"create": f"review_{what}"},
            done="written",
        ),
    )


# Finding music.

SortBy = Annotated[
    Literal["relevance", "rating", "like_count", "release_date"], Field(description="Highest or newest first")
]


@app.api(page=5)
def search_songs(
    call: SpotifyCall,
    query: Query = "",
    genre: Genre | None = None,
    artist_id: ArtistId | None = None,
    album_id: AlbumId | None = None,
    min_rating: Rating = 0,
    sort_by: SortBy = "relevance",
) -> Iterable[Any]:
    """Search songs by title, artist, album or genre."""

    def texts(song: Song) -> tuple[str, ...]:
        return (song.title, *(call.state.artists.get(number).name for number in song.artist_ids))

    found = [
        song
        for song in rank(query, call.state.songs, texts)
        if (genre is None or song.genre.lower() == genre.lower())
        and (artist_id is None or artist_id in song.artist_ids)
        and album_id in (None, song.album_id)
        and song.rating >= min_rating
    ]
    return (song_shown(call, song) for song in _sorted(found, sort_by))


@app.api(page=5)
def search_albums(
    call: SpotifyCall,
    query: Query = "",
    genre: Genre | None = None,
    artist_id: ArtistId | None = None,
    min_rating: Rating = 0,
    sort_by: SortBy = "relevance",
) -> Iterable[Any]:
    """Search albums by title, artist or genre."""

    def texts(album: Album) -> tuple[str, ...]:
        return (album.title, *(call.state.artists.get(number).name for number in album.artist_ids))

    found = [
        album
        for album in rank(query, call.state.albums, texts)
        if (genre is None or album.genre.lower() == genre.lower())
        and (artist_id is None or artist_id in album.artist_ids)
        and album.rating >= min_rating
    ]
    return (album_shown(call, album) for album in _sorted(found, sort_by))


@app.api(page=5)
def search_artists(call: SpotifyCall, query: Query = "", genre: Genre | None = None) -> Iterable[Any]:
    """Search artists by name or genre."""
    return [
        artist
        for artist in rank(query, call.state.artists, lambda artist: (artist.name,))
        if genre is None or artist.genre.lower() == genre.lower()
    ]


@app.api(page=5)
def search_playlists(call: SpotifyCall, query: Query = "") -> Iterable[Any]:
    """Search public playlists and your own, by title."""
    visible = [each for each in call.state.playlists if each.is_public or each.owner == call.user]
    found = rank(query, visible, lambda playlist: (playlist.title,))
    return (playlist_shown(call, playlist) for playlist in found)


@app.api(page=5)
def search_users(call: SpotifyCall, query: Query = "") -> Iterable[Any]:
    """Search people who use Spotify, by name or email address."""
    return search_people(call, query)


@app.api(page=5)
def show_recommendations(call: SpotifyCall) -> Iterable[Any]:
    """List songs for you: the best rated of the genres you like, then all others."""
    library = own_library(call)
    known = {*library.liked_songs, *library.songs}
    genres = {call.state.songs.get(number).genre for number in known}
    found = [song for song in call.state.songs if song.song_id not in known]
    found.sort(key=lambda song: (song.genre not in genres, -song.rating, song.song_id))
    return map(partial(song_shown, call), found)


@app.api()
def show_genres(call: SpotifyCall) -> list[str]:
    """List the genres there are."""
    return sorted({song.genre for song in call.state.songs if song.genre})


@app.api()
def show_song(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Show a song."""
    return song_shown(call, call.state.songs.get(song_id))


@app.api()
def show_album(call: SpotifyCall, album_id: AlbumId) -> dict[str, Any]:
    """Show an album with its songs."""
    album = album_shown(call, call.state.albums.get(album_id))
    return {**album, "songs": songs_shown(call, album["song_ids"])}


@app.api()
def show_artist(call: SpotifyCall, artist_id: ArtistId) -> dict[str, Any]:
    """Show an artist with their albums."""
    artist = call.state.artists.get(artist_id)
    albums = [album for album in call.state.albums if artist_id in album.artist_ids]
    return {**as_dict(artist), "albums": [{"album_id": album.album_id, "title": album.title} for album in albums]}


@app.api()
def show_playlist(call: SpotifyCall, playlist_id: PlaylistId) -> dict[str, Any]:
    """Show a playlist with its songs."""
    playlist = visible_playlist(call, playlist_id)
    return {**playlist_shown(call, playlist), "songs": songs_shown(call, playlist.song_ids)}


def _sorted(found: list[Any], sort_by: str) -> list[Any]:
    return found if sort_by == "relevance" else sorted(found, key=lambda item: getattr(item, sort_by), reverse=True)
