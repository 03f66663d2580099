SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename IN ('samples', 'tags', 'layout')
