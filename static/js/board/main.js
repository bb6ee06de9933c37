// The episode board: cards are chosen, dragged and carried by keys; every step goes to the server, which knows the rules.
import "./choosing.js";
import "./carrying.js";
import "./dragging.js";
import "./sending.js";
