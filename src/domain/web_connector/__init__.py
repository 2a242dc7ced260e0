"""The Web Connector: SOAP envelopes, the WSDL, the `.qwc` file, and the session behind them."""
