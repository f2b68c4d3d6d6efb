-- Queries are not shared by links.
DROP TABLE quorumsql.shares;
