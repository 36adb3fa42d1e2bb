// Package connlimit bounds how many connections callers hold open, so that they can't use
// up memory, or the file descriptors that the store and the calls to projects need. At the
// limit a new connection is accepted, and the one that was inactive for longest is closed.
// Idle connections and those with an incomplete request are closed before those whose
// request is in a handler.
package connlimit
