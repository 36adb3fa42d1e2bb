// Package connlimit bounds how many connections callers hold open, so that strangers
// can take neither the descriptors that the store and the calls to projects need,
// nor the memory, nor others' turn. A full house turns nobody away: the connection
// on which nothing has happened for longest gives way. Those of answered callers
// who stay, and of strangers who say nothing or say it slowly, go before those whose
// request is being worked on.
package connlimit
