CALL browse_by_category(?, ?)
