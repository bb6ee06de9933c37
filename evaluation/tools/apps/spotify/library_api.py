"""What a listener likes, saves and collects."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    Page,
    PageIndex,
    PageLimit,
    as_dict,
    given,
    paginate,
)
from evaluation.tools.apps.spotify.common import (
    AlbumId,
    ArtistId,
    PlaylistId,
    SongId,
    SpotifyCall,
    add_to,
    album_shown,
    app,
    own_library,
    playlist_shown,
    remove_from,
    song_shown,
    visible_playlist,
)
from evaluation.tools.apps.spotify.state import Playlist

Title = Annotated[str, Field(min_length=1, max_length=200, description="Title of the playlist")]


@app.api()
def like_song(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Like a song."""
    return _like(call, "song", call.state.songs.get(song_id))


@app.api()
def unlike_song(call: SpotifyCall, song_id: SongId) -> dict[str, Any]:
    """Take back a like of a song."""
    return _unlike(call, "song", call.state.songs.get(song_id))


@app.api()
def like_album(call: SpotifyCall, album_id: AlbumId) -> dict[str, Any]:
    """Like an album."""
    return _like(call, "album", call.state.albums.get(album_id))


@app.api()
def unlike_album(call: SpotifyCall, album_id: AlbumId) -> dict[str, Any]:
    """Take back a like of an album."""
    return _unlike(call, "album", call.state.albums.get(album_id))


@app.api()
def like_playlist(call: SpotifyCall, playlist_id: PlaylistId) -> dict[str, Any]:
    """Like a playlist."""
    return _like(call, "playlist", visible_playlist(call, playlist_id))


@app.api()
def unlike_playlist(call: SpotifyCall, playlist_id: PlaylistId) -> dict[str, Any]:
    """Take back a like of a playlist."""
    return _unlike(call, "playlist", visible_playlist(call, playlist_id))


@app.api()
def show_liked_playlists(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the playlists you like."""
    liked = [call.state.playlists.get(number) for number in own_library(call).liked_playlists]
    visible = [playlist for playlist in liked if playlist.is_public or playlist.owner == call.user]
    return paginate(visible, page_index, page_limit, partial(playlist_shown, call))


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


@app.api()
def show_liked_songs(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the songs you like."""
    return _songs(call, "liked_songs", page_index, page_limit)


@app.api()
def show_liked_albums(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the albums you like."""
    page = paginate(own_library(call).liked_albums, page_index, page_limit)
    return Page(tuple(album_shown(call, call.state.albums.get(each)) for each in page.items), page.next_index)


@app.api()
def show_song_library(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the songs in your library."""
    return _songs(call, "songs", page_index, page_limit)


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


@app.api()
def show_album_library(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the albums in your library."""
    page = paginate(own_library(call).albums, page_index, page_limit)
    return Page(tuple(album_shown(call, call.state.albums.get(each)) for each in page.items), page.next_index)


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


@app.api()
def show_downloaded_songs(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the songs you have downloaded."""
    return _songs(call, "downloaded_songs", page_index, page_limit)


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


@app.api(alias="show_following_artists")
def show_artist_following(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the artists you follow."""
    page = paginate(own_library(call).followed_artists, page_index, page_limit)
    return Page(tuple(as_dict(call.state.artists.get(number)) for number in page.items), page.next_index)


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


@app.api()
def show_playlist_library(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the playlists you have created."""
    own = [playlist_shown(call, playlist) for playlist in call.state.playlists if playlist.owner == call.user]
    return paginate(own, page_index, page_limit)


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


def _songs(call: SpotifyCall, field: str, page_index: int, page_limit: int) -> Page:
    page = paginate(getattr(own_library(call), field), page_index, page_limit)
    return Page(tuple(song_shown(call, call.state.songs.get(number)) for number in page.items), page.next_index)


def _own(call: SpotifyCall, playlist_id: int) -> Playlist:
    playlist = visible_playlist(call, playlist_id)
    if playlist.owner != call.user:
        raise ForbiddenError("This playlist is somebody else's.")
    return playlist


def _like(call: SpotifyCall, what: str, record: Any) -> dict[str, Any]:
    table = call.state.tables[f"{what}s"]
    add_to(call, f"liked_{what}s", getattr(record, table.key), f"You like this {what} already.")
    table.put(replace(record, like_count=record.like_count + 1))
    return {"message": f"You like the {what}."}


def _unlike(call: SpotifyCall, what: str, record: Any) -> dict[str, Any]:
    table = call.state.tables[f"{what}s"]
    remove_from(call, f"liked_{what}s", getattr(record, table.key), f"You have not liked this {what}.")
    table.put(replace(record, like_count=max(record.like_count - 1, 0)))
    return {"message": f"You like the {what} no longer."}
