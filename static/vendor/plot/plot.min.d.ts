// The names that entry.js bundles, for the type check of static/js; the types of Observable Plot are not checked.
export const barX: any;
export const cell: any;
export const dot: any;
export const line: any;
export const link: any;
export const plot: any;
export const ruleX: any;
export const text: any;
