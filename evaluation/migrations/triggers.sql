-- Invariants that constraints cannot express.

CREATE FUNCTION refuse_foreign_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  judging evaluation_judging;
BEGIN
  SELECT * INTO judging FROM evaluation_judging WHERE id = NEW.judging_id;
  IF (NEW.kind = 'checklist') <> (judging.scoring <> '') THEN
    RAISE EXCEPTION 'a judging in mode "%" has no verdicts of kind %', judging.scoring, NEW.kind
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER evaluation_elsewhereacceptance_frozen BEFORE UPDATE ON evaluation_elsewhereacceptance
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_erratum_frozen BEFORE UPDATE ON evaluation_erratum
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_judging_identity BEFORE UPDATE ON evaluation_judging
  FOR EACH ROW WHEN (OLD.session_id IS DISTINCT FROM NEW.session_id
    OR OLD.round_id IS DISTINCT FROM NEW.round_id
    OR OLD.purpose IS DISTINCT FROM NEW.purpose
    OR OLD.scoring IS DISTINCT FROM NEW.scoring
    OR OLD.sample IS DISTINCT FROM NEW.sample
    OR OLD.endpoint_id IS DISTINCT FROM NEW.endpoint_id
    OR OLD.judge IS DISTINCT FROM NEW.judge
    OR OLD.prompts IS DISTINCT FROM NEW.prompts
    OR OLD.asked IS DISTINCT FROM NEW.asked)
  EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_heldoutpack_frozen BEFORE UPDATE ON evaluation_heldoutpack
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_judginground_frozen BEFORE UPDATE ON evaluation_judginground
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_modelcall_frozen BEFORE UPDATE ON evaluation_modelcall
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_probe_over BEFORE UPDATE ON evaluation_probe
  FOR EACH ROW WHEN (OLD.items IS NOT NULL) EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_referencesolution_frozen BEFORE UPDATE ON evaluation_referencesolution
  FOR EACH ROW WHEN (OLD.created_by_id IS NOT DISTINCT FROM NEW.created_by_id) EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_release_frozen BEFORE UPDATE ON evaluation_release
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_releaseexception_frozen BEFORE UPDATE ON evaluation_releaseexception
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_releasepersona_frozen BEFORE UPDATE ON evaluation_releasepersona
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_releasetask_frozen BEFORE UPDATE ON evaluation_releasetask
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_scoringchoice_frozen BEFORE UPDATE ON evaluation_scoringchoice
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_sessionintent_frozen BEFORE UPDATE ON evaluation_sessionintent
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_signingkey_frozen BEFORE UPDATE ON evaluation_signingkey
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_snapshot_frozen BEFORE UPDATE ON evaluation_snapshot
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_suggestion_decided BEFORE UPDATE ON evaluation_suggestion
  FOR EACH ROW WHEN (OLD.state IN ('taken', 'dismissed')) EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_suggestiondecision_frozen BEFORE UPDATE ON evaluation_suggestiondecision
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_toolcall_frozen BEFORE UPDATE ON evaluation_toolcall
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_turn_frozen BEFORE UPDATE ON evaluation_turn
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_turnwords_frozen BEFORE UPDATE ON evaluation_turnwords
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_verdict_fits_judging BEFORE INSERT ON evaluation_verdict
  FOR EACH ROW EXECUTE FUNCTION refuse_foreign_verdict();
CREATE TRIGGER evaluation_verdict_frozen BEFORE UPDATE ON evaluation_verdict
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER evaluation_verdictcorrection_frozen BEFORE UPDATE ON evaluation_verdictcorrection
  FOR EACH ROW EXECUTE FUNCTION refuse_update();

CREATE UNIQUE INDEX judging_and_session ON evaluation_judging (id, session_id);
ALTER TABLE evaluation_modelcall ADD CONSTRAINT model_call_judging_of_its_session
  FOREIGN KEY (judging_id, session_id) REFERENCES evaluation_judging (id, session_id) DEFERRABLE INITIALLY DEFERRED;
CREATE UNIQUE INDEX round_and_pilot ON evaluation_judginground (id, pilot_id);
ALTER TABLE evaluation_scoringchoice ADD CONSTRAINT scoring_choice_of_its_pilot
  FOREIGN KEY (round_id, pilot_id) REFERENCES evaluation_judginground (id, pilot_id) DEFERRABLE INITIALLY DEFERRED;
