-- Inserts with an index in one transaction, updates, and queries that sort, group and join.
PRAGMA journal_mode = MEMORY;
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, price REAL NOT NULL);
CREATE INDEX item_kind ON item (kind, price);
BEGIN;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
INSERT INTO item SELECT i, i * 7919 % 1000, printf('item %06d', i * 104729 % 50000), i * 31 % 9973 / 10.0 FROM n;
COMMIT;
UPDATE item SET price = price * 1.25 WHERE kind % 10 = 3;
SELECT count(*), round(sum(price), 2), max(name) FROM item;
SELECT count(*), round(sum(total), 2) FROM (SELECT kind, sum(price) AS total FROM item GROUP BY kind HAVING total > 10000);
SELECT count(*) FROM item AS a JOIN item AS b ON a.kind = b.kind AND a.id < b.id WHERE a.kind < 20;
SELECT id, name FROM item WHERE name LIKE '%99%' ORDER BY price DESC, id LIMIT 3;
