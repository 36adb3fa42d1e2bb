// Package importer makes a proposal from the OpenAPI document of somebody's API:
// a disabled project for an administrator to review, and a report of everything
// that it left out and why (specification 2.5, 2.6; contract 5). It is pure:
// [Read] takes the text, [Document.Propose] decides, and neither fetches
// anything; an external reference costs the operation that needs it.
//
// Doubt is decided on the safe side. What may change something asks for approval
// each time, unless the document itself says that the receiver deduplicates by
// the Idempotency-Key that the runtime sends. An operation that can't be called
// exactly as it is described is skipped with a reason, never approximated.
//
// Documents come from strangers. Their text is bounded (16 MiB, 64 levels), each
// is decoded once into a plain tree, references are followed only where an
// operation needs them, and everything that they multiply comes out of one
// budget. That is why no OpenAPI library loads them: resolving all references
// beforehand takes quadratic time, seconds for a hundred kilobytes.
package importer
