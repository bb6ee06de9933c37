// The file sets `window.Sortable`; its types are those of @types/sortablejs.
export {};
