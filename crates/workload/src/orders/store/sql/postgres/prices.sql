SELECT prod_id, price_cents FROM products WHERE prod_id = ANY ($1::text::integer[])
