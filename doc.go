// Package countersign is the vocabulary of the product: agent models, projects
// and their capabilities, plans, runs, approvals, tenants, tokens and audit
// records, as the API shows them.
//
// It holds plain data and the small rules that belong to a single word
// (is this status terminal, is this id well formed). It decides nothing and
// performs no I/O; every other package may import it and it imports only the
// standard library.
package countersign
