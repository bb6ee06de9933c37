"""Finding music; ``library_api`` keeps it, ``player_api`` plays it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.framework import Page, PageIndex, PageLimit, as_dict, paginate, rank
from evaluation.tools.apps.spotify import library_api, player_api, review_api
from evaluation.tools.apps.spotify.common import (
    AlbumId,
    ArtistId,
    Genre,
    PlaylistId,
    Query,
    Rating,
    SongId,
    SpotifyCall,
    album_shown,
    app,
    own_library,
    playlist_shown,
    song_shown,
    songs_shown,
    visible_playlist,
)
from evaluation.tools.apps.spotify.state import Album, Song

__all__ = ["app", "library_api", "player_api", "review_api"]

SortBy = Annotated[
    Literal["relevance", "rating", "like_count", "release_date"], Field(description="Highest or newest first")
]


@app.api()
def search_songs(
    call: SpotifyCall,
    query: Query = "",
    genre: Genre | None = None,
    artist_id: ArtistId | None = None,
    album_id: AlbumId | None = None,
    min_rating: Rating = 0,
    sort_by: SortBy = "relevance",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
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
    page = paginate(_sorted(found, sort_by), page_index, page_limit)
    return Page(tuple(song_shown(call, song) for song in page.items), page.next_index)


@app.api()
def search_albums(
    call: SpotifyCall,
    query: Query = "",
    genre: Genre | None = None,
    artist_id: ArtistId | None = None,
    min_rating: Rating = 0,
    sort_by: SortBy = "relevance",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
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
    page = paginate(_sorted(found, sort_by), page_index, page_limit)
    return Page(tuple(album_shown(call, album) for album in page.items), page.next_index)


@app.api()
def search_artists(
    call: SpotifyCall,
    query: Query = "",
    genre: Genre | None = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search artists by name or genre."""
    found = [
        artist
        for artist in rank(query, call.state.artists, lambda artist: (artist.name,))
        if genre is None or artist.genre.lower() == genre.lower()
    ]
    return paginate(found, page_index, page_limit, as_dict)


@app.api()
def search_playlists(
    call: SpotifyCall,
    query: Query = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search public playlists and your own, by title."""
    visible = [each for each in call.state.playlists if each.is_public or each.owner == call.user]
    found = rank(query, visible, lambda playlist: (playlist.title,))
    return paginate(found, page_index, page_limit, lambda playlist: playlist_shown(call, playlist))


@app.api()
def search_users(call: SpotifyCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """Search people who use Spotify, by name or email address."""
    found = rank(query, call.state.accounts, lambda account: (account.name, account.username))
    people = [
        {"first_name": person.first_name, "last_name": person.last_name, "email": person.username} for person in found
    ]
    return paginate(people, page_index, page_limit)


@app.api()
def show_recommendations(call: SpotifyCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List songs for you: the best rated of the genres you like, then all others."""
    library = own_library(call)
    known = {*library.liked_songs, *library.songs}
    genres = {call.state.songs.get(number).genre for number in known}
    found = [song for song in call.state.songs if song.song_id not in known]
    found.sort(key=lambda song: (song.genre not in genres, -song.rating, song.song_id))
    return paginate(found, page_index, page_limit, partial(song_shown, call))


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
