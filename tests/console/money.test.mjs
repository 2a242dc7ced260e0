import assert from "node:assert/strict";
import { test } from "node:test";

import { cents, decimal, moneyText, product, typedNumber } from "../../src/console/lib/money.js";
import { chance, times } from "./support.mjs";

test("quantity times rate is exact, and half a cent is rounded away from zero", () => {
  const below = chance(1042);
  const digits = (most) => times(below(most + 1), () => below(10)).join("");
  const number = () =>
    `${["", "", "-", "+"][below(4)]}${below(10)}${digits(9)}${below(2) ? `.${below(10)}${digits(4)}` : ""}`;
  const pairs = times(2000, () => [number(), number()]);
  pairs.push(["1", "1.005"], ["-1", "1.005"], ["3", "0.335"], ["9999999999.99999", "9999999999.99999"], ["0", "-5"]);

  for (const [one, other] of pairs) {
    const text = moneyText(cents(product(decimal(one), decimal(other))));

    // Both numbers in units of 10^-5, so their product is in units of 10^-10.
    const units = (number) => {
      const [whole, fraction = ""] = number.replace(/^[+-]/, "").split(".");
      return BigInt(whole + fraction.padEnd(5, "0"));
    };
    const size = units(one) * units(other);
    const rounded = (size + 50_000_000n) / 100_000_000n;
    const isNegative = one.startsWith("-") !== other.startsWith("-") && rounded > 0n;
    assert.match(text, /^-?\d{1,3}(,\d{3})*\.\d\d$/);
    assert.equal(BigInt(text.replace(/[,.]/g, "")), isNegative ? -rounded : rounded, `${one} × ${other}`);
  }
});

test("a typed number becomes money only if one number can be meant", () => {
  const amounts = {
    12.5: "12.50",
    "1,234.5": "1234.50",
    "1,234,567.89": "1234567.89",
    " 7 ": "7",
    ".5": "0.50",
    "-3.1": "-3.10",
    "12.": "12",
    100: "100",
    12.345: "12.345",
    "1,234": "1,234",
    "12,50": "12,50",
    "1.234,50": "1.234,50",
    "12,34.5": "12,34.5",
    two: "two",
    "": "",
    "-": "-",
    ".": ".",
    "1 000.00": "1 000.00",
    $5: "$5",
  };
  const rates = { 12.5: "12.5", "1,234.56789": "1234.56789", "1,234": "1,234", ".5": "0.5" };

  for (const [text, typed] of Object.entries(amounts)) assert.equal(typedNumber(text, true), typed);
  for (const [text, typed] of Object.entries(rates)) assert.equal(typedNumber(text, false), typed);
});

test("a text that is not a number of at most 40 digits is not read", () => {
  for (const text of ["", " ", "1,000", "1.", ".5", "1e3", "--1", "NaN", "1".repeat(41), null, undefined])
    assert.equal(decimal(text), null);
});
