// Everything here makes pages quicker to use; every page works without it.
import "./theme.js";
import "./rail.js";
import "./keys.js";
import "./messages.js";
import "./unsaved.js";
import "./rows.js";
import "./folder.js";
import "./reveal.js";
import "./area.js";
import "./palette.js";
