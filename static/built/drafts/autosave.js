import "../chunks/chunk-RCO2JL6F.js";
import "../chunks/chunk-2THEAPOY.js";
import "../chunks/chunk-6YM6RD3V.js";
import "../chunks/chunk-4KTFFKSQ.js";
import "../chunks/chunk-JPS3M5OM.js";
import "../chunks/chunk-IGJ2IKZR.js";
