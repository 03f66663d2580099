CALL prices({products})
