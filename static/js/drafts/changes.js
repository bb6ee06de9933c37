// Which fields of a form changed between two moments.

/**
 * Tells of a field, by its name, whether all its values are as they were, in the same order.
 * @param {URLSearchParams} before
 * @param {URLSearchParams} now
 * @returns {(name: string) => boolean}
 */
export function unchangedFields(before, now) {
  const values = (/** @type {URLSearchParams} */ form, /** @type {string} */ name) => form.getAll(name).join("\0");
  return (name) => values(before, name) === values(now, name);
}
