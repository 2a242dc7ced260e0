"""The handlers of requests, one for each family of requests. `simulator.company.dispatch` lists them."""
