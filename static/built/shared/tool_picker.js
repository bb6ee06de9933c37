import "../chunks/chunk-DARIGDDJ.js";
