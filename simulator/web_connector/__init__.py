"""The Web Connector: its protocol over SOAP, the `.qwc` file, the schedule and the machines that it runs on."""
