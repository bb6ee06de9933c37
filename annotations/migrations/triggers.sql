-- What was judged stays as it was judged.

CREATE TRIGGER annotations_adjudication_frozen BEFORE UPDATE ON annotations_adjudication
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER annotations_answer_frozen BEFORE UPDATE ON annotations_answer
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER annotations_judgment_frozen BEFORE UPDATE ON annotations_judgment
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER annotations_opening_frozen BEFORE UPDATE ON annotations_opening
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER annotations_packet_frozen BEFORE UPDATE ON annotations_packet
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
