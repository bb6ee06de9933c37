// What every page loads. Every page works without it.
import "./shared/theme.js";
import "./shared/rail.js";
import "./shared/shortcuts.js";
import "./shared/messages.js";
import "./shared/copy.js";
import "./shared/signed_in.js";
import "./shared/unsaved.js";
import "./shared/rows.js";
import "./shared/folder_upload.js";
import "./shared/conditional_fields.js";
import "./shared/highlighted_text.js";
import "./shared/palette.js";
