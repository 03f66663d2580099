SELECT prod_id, category, title, actor, price_cents, special, common_prod_id FROM browse_by_category($1, $2)
