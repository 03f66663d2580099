-- By an expression: in the order of the primary key the planner might look at product after product.
SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE to_tsvector('simple', title) @@ phraseto_tsquery('simple', $1)
ORDER BY prod_id + 0
LIMIT $2
