// The episode board: cards are selected and moved by mouse, touch or keyboard; the server validates every step.
import "./selection.js";
import "./keyboard.js";
import "./dragging.js";
import "./steps.js";
