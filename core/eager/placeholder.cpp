// Replaced by the first unit of this room.
