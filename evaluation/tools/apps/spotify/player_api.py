"""The player and its queue."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import InvalidError, NotFoundError
from evaluation.tools.apps.spotify.common import (
    AlbumId,
    PlaylistId,
    SongId,
    SpotifyCall,
    app,
    change_library,
    own_library,
    song_shown,
    songs_shown,
    visible_playlist,
)


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
