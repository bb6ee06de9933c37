// Bundled as static/vendor/README.md says; the names that static/js/results/charts.js imports.
export { barX, cell, dot, line, link, plot, ruleX, text } from "@observablehq/plot";
