// Where the focus is: whether it takes text, and whether a late answer may move it.

const TEXT_FIELDS = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";

/** Whether an element takes what is typed. The field of a closed dialog keeps the focus for a moment, but takes nothing. @param {Element | null} element */
export function takesText(element) {
  return element !== null && element.closest(TEXT_FIELDS) !== null && element.closest("dialog:not([open])") === null;
}

/**
 * Whether a late answer may move the focus: it is where it was when the question was asked, nowhere, or within the part
 * that asked.
 * @param {Element | null} from what had the focus then
 * @param {Element} part
 */
export function canMoveFocus(from, part) {
  const now = document.activeElement;
  return now === null || now === from || now === document.body || part.contains(now) || now.closest("dialog:not([open])") !== null;
}
