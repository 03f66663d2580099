CALL purchase(NULL, $1, $2, $3, $4, $5, $6::text::integer[])
