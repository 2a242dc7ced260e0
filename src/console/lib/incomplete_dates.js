// Dates that are not complete. For half a date, a browser gives the text of an empty field.

import { NOT_WHOLE } from "./moments.js";

/**
 * @import { Tree } from "./trees.js"
 * @typedef {{element?: Tree, field?: string, message: string, isDate?: boolean}} Problem
 */

const TOO_EARLY = "Enter a date from 2000 on.";

/**
 * What each input edits: an element of a tree, or a field of the draft.
 *
 * @type {WeakMap<Element, {element?: Tree, field?: string}>}
 */
const places = new WeakMap();

/**
 * Returns the `ref` of an input, which tells where a problem of it is shown.
 *
 * @param {{element?: Tree, field?: string}} place
 */
export const editing = (place) => (/** @type {Element | null} */ input) => {
  if (input) places.set(input, place);
};

/**
 * Returns a problem for each input with a date that is not complete.
 *
 * @param {Iterable<HTMLInputElement>} inputs
 * @returns {Problem[]}
 */
export const incompleteDates = (inputs) =>
  [...inputs]
    .filter(({ validity }) => !validity.valid)
    .flatMap((input) => {
      const place = places.get(input);
      const { customError, rangeUnderflow } = input.validity;
      const message = rangeUnderflow ? TOO_EARLY : customError ? input.validationMessage : NOT_WHOLE[input.type];
      return place && message ? [{ ...place, message, isDate: true }] : [];
    });

/**
 * Returns the known problems without those of dates that are complete by now, or the same array if all stay. An emptied
 * date is complete too, although the draft has not changed.
 *
 * @param {Problem[]} known
 * @param {Problem[]} now
 */
export function stillIncomplete(known, now) {
  const left = known.filter(
    ({ isDate, field, element }) => !isDate || now.some((one) => one.field === field && one.element === element),
  );
  return left.length < known.length ? left : known;
}

/**
 * Returns the problems of dates, and those other ones that are not about the same element: half a date is not missing.
 *
 * @param {Problem[]} dates
 * @param {Problem[]} others
 */
export const withOthers = (dates, others) => [
  ...dates,
  ...others.filter(({ element }) => !element || dates.every((one) => one.element !== element)),
];
