"""The ports' implementations. The only place with boto3 and urllib3; imports from `domain` alone."""
