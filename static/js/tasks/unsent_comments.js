// Comments that are written and not sent, each with its target. Nothing here touches the page.

/**
 * @typedef {Record<string, string>} CommentDraft the compose form's fields
 * @typedef {{active: CommentDraft | null, others: CommentDraft[], answers: Record<string, string>}} Unsent
 */

/** @returns {Unsent} */
export const nothingUnsent = () => ({ active: null, others: [], answers: {} });

/** What a comment is about: two drafts with the same key are the same comment. */
export const targetKey = (/** @type {CommentDraft} */ draft) => [draft.about, draft.start, draft.words].join("\0");

export function isWritten(/** @type {CommentDraft} */ draft, filled = "") {
  return Boolean(draft.text.trim()) || (Boolean(draft.suggest) && draft.suggestion !== filled);
}

export const isEmpty = (/** @type {Unsent} */ unsent) =>
  !unsent.active && !unsent.others.length && !Object.keys(unsent.answers).length;

/**
 * Another target is chosen: what was written stays with its own target, and what was written about the new one before
 * is the active draft again.
 * @param {Unsent} unsent
 * @param {CommentDraft} target
 * @returns {Unsent}
 */
export function switchTarget(unsent, target) {
  const { active } = unsent;
  const key = targetKey(target);
  if (active && targetKey(active) === key) return unsent;
  const all = active ? [active, ...unsent.others] : unsent.others;
  const earlier = all.find((draft) => targetKey(draft) === key);
  return { ...unsent, active: earlier ?? null, others: all.filter((draft) => draft !== earlier) };
}
