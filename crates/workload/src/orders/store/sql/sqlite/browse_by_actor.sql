SELECT p.prod_id, p.category, p.title, p.actor, p.price_cents, p.special, p.common_prod_id
FROM products_text t JOIN products p ON p.prod_id = t.rowid
WHERE t.products_text MATCH 'actor : ' || ?1
ORDER BY t.rowid
LIMIT ?2
