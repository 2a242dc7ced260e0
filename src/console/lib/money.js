// Exact decimal numbers. Binary floating point would lose cents: in it, 1.005 * 100 is less than 100.5.

const NUMBER = /^\s*([+-]?)(\d+)(?:\.(\d+))?\s*$/;
/** @typedef {{units: bigint, places: number}} Decimal 12.50 is `{units: 1250n, places: 2}`. */

/** The maximum digits of a number. QBXML allows 15. */
const MAX_DIGITS = 40;

/**
 * Reads a number. Returns null if the text is not one.
 *
 * @param {string | null | undefined} text
 * @returns {Decimal | null}
 */
export function decimal(text) {
  const [, sign, whole, fraction = ""] = NUMBER.exec(text ?? "") ?? [];
  if (whole === undefined || whole.length + fraction.length > MAX_DIGITS) return null;
  const units = BigInt(whole + fraction);
  return { units: sign === "-" ? -units : units, places: fraction.length };
}

/**
 * @param {Decimal} one
 * @param {Decimal} other
 * @returns {Decimal}
 */
export const product = (one, other) => ({ units: one.units * other.units, places: one.places + other.places });

/**
 * Returns a number in cents. Half a cent is rounded away from zero, as QuickBooks does.
 *
 * @param {Decimal} number
 */
export function cents({ units, places }) {
  if (places <= 2) return units * 10n ** BigInt(2 - places);
  const divisor = 10n ** BigInt(places - 2);
  const size = units < 0n ? -units : units;
  const rounded = (size * 2n + divisor) / (divisor * 2n);
  return units < 0n ? -rounded : rounded;
}

/**
 * Returns cents for people: "1,234.50".
 *
 * @param {bigint} amount
 */
export function moneyText(amount) {
  const digits = String(amount < 0n ? -amount : amount).padStart(3, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",")}.${digits.slice(-2)}`;
}

/**
 * Returns what a person typed as QBXML has it, if only one number can be meant: "1,234.5" is 1234.50 as an amount. Any
 * other text stays as it is, and the form says what is wrong with it: "1,234" can be a thousand or one and a bit.
 *
 * @param {string} text
 * @param {boolean} isAmount
 */
export function typedNumber(text, isAmount) {
  const trimmed = text.trim();
  const [, sign, whole, , fraction] = /^([+-]?)((?:\d{1,3}(?:,\d{3})+(?=\.))|\d*)(\.(\d*))?$/.exec(trimmed) ?? [];
  if (whole === undefined || !(whole || fraction)) return trimmed;
  const digits = `${sign}${whole.replaceAll(",", "") || "0"}`;
  if (!fraction) return digits;
  return `${digits}.${isAmount ? fraction.padEnd(2, "0") : fraction}`;
}
