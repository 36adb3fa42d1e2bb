// Package access has the pages of who may do what: users, tokens, groups, tenants and webhooks, the settings of
// the visitor, and signing in.
package access
