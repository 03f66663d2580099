SELECT customerid, title, actor, related_title FROM login($1, $2)
