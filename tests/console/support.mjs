// Chance from a seed, so that every run tries the same input.

/** Returns a function that returns a whole number from 0 to below `n`. */
export function chance(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

export const times = (number, make) => [...Array(number).keys()].map(make);

/** Lets the libraries believe that somebody has signed in with a key that has these permissions. */
export function signInWith(...permissions) {
  sessionStorage.setItem("qbxml-queue.key", "sk_test");
  sessionStorage.setItem("qbxml-queue.about", JSON.stringify({ app_id: "app", permissions }));
}

/**
 * Returns the text of what a component without hooks shows.
 *
 * @param {any} shown
 * @returns {string}
 */
export function textOf(shown) {
  if (Array.isArray(shown)) return shown.map(textOf).join("");
  if (!shown || typeof shown !== "object") return ["string", "number"].includes(typeof shown) ? String(shown) : "";
  return textOf(typeof shown.type === "function" ? shown.type(shown.props) : shown.props.children);
}
