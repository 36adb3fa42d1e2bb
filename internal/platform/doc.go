// Package platform holds what any service needs and no library gives as we need it:
// figures and spans, mail, OpenID Connect, secret files, atomic files, limits, caches,
// periodic work, crash points.
//
// It imports nothing of ours but itself, not even the vocabulary. It never knows what a
// run, a tenant's right or an approval is.
//
// The order of the folders and each import between them: docs/architecture.md.
package platform
