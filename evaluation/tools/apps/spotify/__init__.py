"""Music: songs, albums, artists, playlists, a library, a player."""
