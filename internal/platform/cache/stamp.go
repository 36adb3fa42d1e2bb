package cache

import "hash/maphash"

// Stamp names the very document that something was made of, so that what is remembered
// of one never stands for another of the same id and version: after a transaction that
// wasn't committed, or a database that has lost some.
type Stamp struct {
	tenant, id string
	version    int64
	sum        uint64
}

var seed = maphash.MakeSeed()

// StampOf is the stamp of a document.
func StampOf(tenant, id string, version int64, doc []byte) Stamp {
	return Stamp{tenant, id, version, maphash.Bytes(seed, doc)}
}
