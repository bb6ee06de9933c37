// The task editor. Without any of this the page is a form with a Save button.
import "./side_pane.js";
import "./keyboard.js";
import "./open_row.js";
import "./link_keys.js";
import "./recovery.js";
import "./live_checks.js";
import "./findings.js";
import "../drafts/autosave.js";
import "./comments.js";
import "./review.js";
import "./uploads.js";
import "./files.js";
import "./references.js";
import "./records.js";
import "./signal.js";
import "../shared/tool_picker.js";
import "./assistance.js";
