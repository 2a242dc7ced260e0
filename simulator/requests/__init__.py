"""The handlers of requests, one for each family of requests; `dispatch` lists them."""
