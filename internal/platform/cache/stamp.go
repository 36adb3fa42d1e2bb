package cache

import "hash/maphash"

// Stamp identifies the exact document from which a cached value was made. Id and version
// are not enough: after a transaction that was not committed, or a restored database,
// another document may have the same ones.
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
