-- References stood for queries that were not shown; every answer has its query now.

DROP TABLE quorumsql.query_references;
