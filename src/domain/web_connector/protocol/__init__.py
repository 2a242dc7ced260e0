"""The wire form of the Web Connector: SOAP, the methods, the WSDL and the `.qwc` file."""
