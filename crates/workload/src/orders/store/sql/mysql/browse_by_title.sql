SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE match (title_words) against (? IN BOOLEAN MODE)
ORDER BY prod_id
LIMIT ?
