// Versions of QBXML: "13.0", or "CA3.0" of an edition outside the US.

const DEFAULT = "13.0";
const OFFERED = ["13.0", "14.0", "15.0", "16.0"];

/** @param {string} version */
const editionOf = (version) => version.replace(/[^A-Z].*/, "");

/**
 * Returns a version as a number for comparisons: "2.1" is 21, and "CA3.0" is 30.
 *
 * @param {string} version
 */
function numberOf(version) {
  const [major, minor = "0"] = version.slice(editionOf(version).length).split(".");
  return Number(major) * 10 + Number(minor);
}

/**
 * Whether QuickBooks cannot read a version. Versions of different editions are not compared. `supported` is null if it
 * is unknown.
 *
 * @param {string} version
 * @param {string | null} [supported]
 * @returns {boolean}
 */
export const isTooNew = (version, supported) =>
  !!supported && editionOf(version) === editionOf(supported) && numberOf(version) > numberOf(supported);

/**
 * Returns the version that a request begins with: 13.0, or the version that QuickBooks supports if it is lower.
 *
 * @param {string | null} [supported]
 */
export const firstVersion = (supported) =>
  supported && (editionOf(supported) || isTooNew(DEFAULT, supported)) ? supported : DEFAULT;

/**
 * Returns the versions to choose from, with the `current` one.
 *
 * @param {string | null | undefined} supported
 * @param {string} current
 */
export const versionsFor = (supported, current) => [
  ...new Set([firstVersion(supported), ...OFFERED.filter((version) => !isTooNew(version, supported)), current]),
];

/**
 * Returns why a request of a version cannot have an element, or null. `since` is the version that added the element.
 *
 * @param {string | undefined} since
 * @param {string} version
 * @param {string | null} [supported]
 */
export function lackOf(since, version, supported) {
  if (!since || numberOf(since) <= numberOf(version)) return null;
  if (supported && numberOf(since) > numberOf(supported))
    return `Needs QBXML ${since}. This connection's QuickBooks supports ${supported}.`;
  return `Needs QBXML ${since}. Choose that version above.`;
}

/**
 * Returns the declarations at the beginning of a QBXML document.
 *
 * @param {string} version
 */
export const declarations = (version) => `<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="${version}"?>\n`;
