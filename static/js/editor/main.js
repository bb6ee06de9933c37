// The task editor while somebody writes. Without any of this the page is saved with its button.
import "./pane.js";
import "./keys.js";
import "./linking.js";
import "./recovering.js";
import "./checking.js";
import "./judging.js";
import "./keeping.js";
import "./talking.js";
import "./reviewing.js";
import "./uploading.js";
import "./files.js";
import "./references.js";
import "./signal.js";
import "./picker.js";
import "./assisting.js";
