// Package exactjson reads JSON that comes from outside: request bodies, project
// APIs' answers, imported files. It accepts exactly what the contract promises
// (section 2), keeps numbers digit for digit and an explicit null apart from an
// absent member, and says of everything else where it is wrong and what would
// be right.
//
// [Check] judges the text. Beyond RFC 8259 it refuses what two readers could
// understand differently: a key that an object holds twice (escapes resolved),
// invalid UTF-8, a byte order mark, a lone surrogate escape, nesting deeper than
// [countersign.MaxJSONDepth] and an exponent of more than
// [countersign.MaxExponentDigits] digits, leading zeros not counted. A number
// may otherwise be as long as the text, as in an answer: it is never expanded or rounded.
//
// [Decode] reads what was asked of us, where a number has at most
// [countersign.MaxNumberLength] characters, into the vocabulary's structs, driven by the same
// struct tags that the OpenAPI document is made from, and names every problem in
// one answer.
//
// Both take time and memory in proportion to the text, whatever it holds. The
// package is pure: no I/O, and the same text gives the same answer.
package exactjson
