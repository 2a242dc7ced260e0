"""People who sign in: sign-ins, session tokens, members and invitations (docs/security.md, People)."""
