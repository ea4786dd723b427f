-- Lock: none. Index: none.
SELECT current_database()::text
