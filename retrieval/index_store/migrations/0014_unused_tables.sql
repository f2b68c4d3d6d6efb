-- No column is described by the model any more, and no query is withheld from who asks.
DROP TABLE quorumsql.model_glosses;
DROP TABLE quorumsql.query_references;
