SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE special = 1 AND category = ?
ORDER BY prod_id
LIMIT ?
