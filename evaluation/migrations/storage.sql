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
