// Package form builds forms: fields with what is stored or was typed and what is wrong with it, the inputs of
// a capability, expectations, and records that are edited as a document.
package form
