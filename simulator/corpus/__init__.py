"""Genuine pairs of requests and responses, and the comparison of the simulator's responses with them.

Values are data of a company and cannot agree, so the structure is compared: statuses, attributes, elements in their
order, formats, columns and rows of reports. The score of a request type is the share of facts that agree; a score of
whole pairs would hide how much does. Pairs with a recorded request are counted apart, because one that was written to
fit a response proves less.
"""
