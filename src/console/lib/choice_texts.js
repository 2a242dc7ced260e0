// Explanations of the choices in the schema. The first entry whose elements are all among those of a choice explains
// it, so those with more elements come first.

/** @type {[string[], string][]} */
const TEXTS = [
  [
    ["TxnID", "MaxReturned"],
    "Which transactions the query returns: those with these ids or numbers, or all that match the filters.",
  ],
  [
    ["ListID", "MaxReturned"],
    "Which entries the query returns: those with these ids or names, or all that match the filters.",
  ],
  [
    ["ListID", "ActiveStatus"],
    "Which entries the query returns: those with these ids or names, or all that match the filters.",
  ],
  [
    ["ListID", "ItemSiteFilter"],
    "Which stock the query returns: that of these entries, or that of some items or sites.",
  ],
  [["ItemTypeFilter", "ItemSiteFilter"], "What limits the stock: kinds of items, or sites."],
  [
    ["EntityTypeFilter", "FullName"],
    "Whose figures count: a kind of customers, vendors or employees, or those with these ids or names, alone or with everything below them.",
  ],
  [
    ["ItemTypeFilter", "FullName"],
    "Which items count: a kind of items, or those with these ids or names, alone or with everything below them.",
  ],
  [
    ["AccountTypeFilter", "FullName"],
    "Which accounts count: a kind of accounts, or those with these ids or names, alone or with everything below them.",
  ],
  [
    ["ListID", "FullNameWithChildren"],
    "Which entries count: those with these ids or names, alone or with everything below them.",
  ],
  [["ListID", "FullName"], "How an entry is named: by its id or by its full name."],
  [["NameFilter", "NameRangeFilter"], "How names limit the query: a part of the name, or a range of the alphabet."],
  [["FromTxnDate", "DateMacro"], "How dates limit the query: a first and a last day, or a period such as ThisMonth."],
  [
    ["FromModifiedDate", "DateMacro"],
    "How the time of the last change limits the query: a first and a last moment, or a period such as ThisMonth.",
  ],
  [
    ["ModifiedDateRangeFilter", "TxnDateRangeFilter"],
    "Which date limits the query: that of the last change, or that of the transaction.",
  ],
  [["RefNumber", "RefNumberFilter"], "How numbers limit the query: whole numbers, a part of the number, or a range."],
  [["RefNumberFilter", "RefNumberRangeFilter"], "How numbers limit the query: a part of the number, or a range."],
  [
    ["ReportPeriod", "ReportDateMacro"],
    "The period of the report: a first and a last day, or a period such as ThisMonth.",
  ],
  [
    ["ReportModifiedDateRangeFilter", "ReportModifiedDateRangeMacro"],
    "When the transactions of the report were last changed: between two days, or in a period such as ThisMonth.",
  ],
  [
    ["OwnerID", "AssignToObject"],
    "Which custom fields the query returns: those of an owner, or those of a kind of object.",
  ],
  [
    ["Rate", "RatePercent", "PriceLevelRef"],
    "How the price of the line is set: a price for each unit, a percentage, or a price level. Without one, QuickBooks takes the price of the item.",
  ],
  [["MarkupRate", "MarkupRatePercent"], "What is added to the price: an amount, a percentage, or a price level."],
  [["DiscountRate", "DiscountRatePercent"], "How much the discount takes off: an amount, or a percentage."],
  [["Rate", "RatePercent"], "How the rate is set: an amount for each unit, or a percentage."],
  [["Amount", "RatePercent"], "How the amount of this line is set: directly, or as a percentage of the lines above."],
  [["Price", "PricePercent"], "How the price of the item is set: an amount, or a percentage of the line above."],
  [
    ["SalesOrPurchase", "SalesAndPurchase"],
    "Whether the item is only sold or only bought, or bought and sold on, with two prices and accounts.",
  ],
  [
    ["SalesOrPurchaseMod", "SalesAndPurchaseMod"],
    "Whether the item is only sold or only bought, or bought and sold on, with two prices and accounts.",
  ],
  [["AddSerialNumber", "RemoveSerialNumber"], "Whether a serial number comes into the stock or leaves it."],
  [["SerialNumber", "CountAdjustment"], "What the stock is counted by: serial numbers, or lots."],
  [
    ["SerialNumber", "LotNumber"],
    "Which units are meant, of an item that is tracked: their serial numbers, or their lot.",
  ],
  [
    ["ListDataExtType", "TxnDataExtType"],
    "What the custom field belongs to: an entry of a list, a transaction, or the company.",
  ],
  [
    ["IsToBePrinted", "RefNumber"],
    "How the check gets its number: when it is printed, or now because it is written already.",
  ],
  [["PaymentTxnID", "EntityRef"], "What is deposited: a payment that is in the books already, or other money."],
  [["ClearEarnings", "Earnings"], "Whether all earnings are removed, or replaced by these."],
  [["NewQuantity", "QuantityDifference"], "How the stock is corrected: to a new quantity, or by a difference."],
  [["NewValue", "ValueDifference"], "How the value is corrected: to a new value, or by a difference."],
  [
    ["QuantityAdjustment", "ValueAdjustment"],
    "What is corrected: the quantity, the value, or the serial or lot numbers of the item.",
  ],
  [["FixedBillingRate", "BillingRatePerItem"], "Whether one rate holds for all services, or each item has its own."],
  [["CustomRate", "AdjustPercentage"], "How the rate of the item is set: directly, or by a percentage more or less."],
  [["CustomPrice", "AdjustPercentage"], "How the price of the item is set: directly, or by a percentage more or less."],
  [["CustomRate", "CustomRatePercent"], "How the rate is set: as an amount, or as a percentage."],
  [["CustomPrice", "CustomPricePercent"], "How the price is set: as an amount, or as a percentage."],
  [
    ["PriceLevelFixedPercentage", "PriceLevelPerItem"],
    "Whether one percentage holds for all items, or each item has its own price.",
  ],
  [
    ["InventorySiteRef", "ShipToEntityRef"],
    "Where the goods are delivered: to a site of the company, or to somebody else, such as a customer.",
  ],
  [["CustomerRef", "EmployeeRef", "LeadRef", "VendorRef"], "Whom the to-do is about."],
  [["ClearItemsInGroup", "ItemGroupLine"], "Whether all items of the group are removed, or replaced by these."],
  [["ClearItemsInGroup", "ItemInventoryAssemblyLine"], "Whether all components are removed, or replaced by these."],
  [
    ["IsHomeCurrencyAdjustment", "CurrencyRef"],
    "Whether the entry corrects balances in the home currency, or is in a currency of its own.",
  ],
  [
    ["IsAutoApply", "AppliedToTxnAdd"],
    "What the payment is applied to: the oldest open invoices, or those that you name with their amounts.",
  ],
  [["OdometerStart", "TotalMiles"], "How the distance is given: from the odometer, or as a number of miles."],
];

/**
 * Returns what a choice is for, or null. `names` are all elements in it.
 *
 * @param {string[]} names
 */
export const purposeOf = (names) =>
  TEXTS.find(([elements]) => elements.every((name) => names.includes(name)))?.[1] ?? null;
