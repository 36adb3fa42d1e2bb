package oidc

// Timeout is what a test compares with.
const Timeout = timeout
