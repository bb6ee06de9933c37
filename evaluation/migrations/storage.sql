-- Pages of indexes whose rows never change are filled, because nothing will be put between.
ALTER INDEX evaluation_modelcall_pkey SET (fillfactor = 100);
ALTER INDEX turn_number SET (fillfactor = 100);
ALTER INDEX evaluation_turn_pkey SET (fillfactor = 100);
ALTER INDEX evaluation_toolcall_pkey SET (fillfactor = 100);
ALTER INDEX tool_call_position SET (fillfactor = 100);
ALTER INDEX evaluation_verdict_pkey SET (fillfactor = 100);
ALTER INDEX verdict_once SET (fillfactor = 100);
ALTER INDEX evaluation_snapshot_pkey SET (fillfactor = 100);
ALTER INDEX evaluation_sessionintent_pkey SET (fillfactor = 100);
ALTER INDEX one_terminal_status SET (fillfactor = 100);

-- As Django's cache in the database wants it (settings.CACHES): results that were computed once.
CREATE TABLE evaluation_computed (
    cache_key varchar(255) NOT NULL PRIMARY KEY, value text NOT NULL, expires timestamp with time zone NOT NULL
);
CREATE INDEX evaluation_computed_expires ON evaluation_computed (expires);
