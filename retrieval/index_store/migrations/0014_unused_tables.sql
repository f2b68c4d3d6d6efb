-- No column is described by the model any more.
DROP TABLE quorumsql.model_glosses;
