// Package platform holds what any service needs and no library provides as needed here:
// metrics and spans, mail, OpenID Connect, secret files, atomic files, limits, caches,
// periodic work, crash points.
//
// It imports nothing of ours but itself, not even the vocabulary. It never knows what a
// run, a tenant's right or an approval is.
//
// docs/architecture.md lists the order of the folders and each import between them.
package platform
