// Package importer makes a proposal from an OpenAPI document: a disabled project for an
// administrator to review, and a report of everything that was left out and why
// (specification 2.5, 2.6; contract 5, 12.1). It is pure: [Read] parses the text,
// [Document.Propose] decides, and neither fetches anything; of files that a document refers to
// it reads those that [Document.Below] gives it, below the document's folder.
//
// In doubt it takes the safe side. An operation that may change something asks for approval
// each time, unless the document itself says that the receiver deduplicates by the
// Idempotency-Key that the runtime sends. An operation that can't be called exactly as it is
// described is skipped with a reason, never approximated. What the document leaves open is
// proposed as a place to fill in, and named; nothing in it lowers an approval.
//
// Documents are untrusted. Their size and what it stands for are bounded (16 MiB with all
// files, 64 levels, 600,000 values), each is decoded once into a plain tree, references are followed only where an operation needs them, and one
// budget bounds everything that references multiply. That is why no OpenAPI library loads
// them: resolving all references beforehand takes quadratic time, seconds for a hundred
// kilobytes.
package importer
