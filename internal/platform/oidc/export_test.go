package oidc

// Timeout exports timeout for tests.
const Timeout = timeout
