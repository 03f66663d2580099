CALL browse_by_actor(?, ?)
