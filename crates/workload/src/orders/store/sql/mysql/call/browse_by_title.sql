CALL browse_by_title(?, ?)
