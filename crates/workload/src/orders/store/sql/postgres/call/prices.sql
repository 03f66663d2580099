SELECT prod_id, price_cents FROM prices($1::text::integer[])
