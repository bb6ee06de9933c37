import "../chunks/chunk-Z2JDAXR4.js";
import "../chunks/chunk-2THEAPOY.js";
import "../chunks/chunk-WSEPXQCQ.js";
import "../chunks/chunk-4KTFFKSQ.js";
import "../chunks/chunk-JPS3M5OM.js";
import "../chunks/chunk-IGJ2IKZR.js";
