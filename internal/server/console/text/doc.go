// Package text has the words, states and figures of pages, and shows values of others so that nothing in
// them hides. It knows the vocabulary only.
package text
