// The episode board: cards are chosen, dragged and carried by keys; every step goes to the server, which knows the rules.
import "./selection.js";
import "./keyboard.js";
import "./dragging.js";
import "./steps.js";
