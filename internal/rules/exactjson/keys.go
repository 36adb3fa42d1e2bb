package exactjson

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// keySet finds a key that an object holds twice. One serves a whole document:
// the keys of the objects that are open stand in names, innermost last; those of
// an object with many stand in a hash table too, which all objects share. So a
// document costs what its keys cost, be they in one object or in thousands, and
// closing an object costs nothing.
type keySet struct {
	names   [][]byte
	table   []slot
	used    int
	objects uint32
}

// objectKeys is one open object: its number, and where its names begin.
type objectKeys struct {
	number uint32
	first  int
}

// slot is a key in the table; object 0 marks a free one. A slot stays when its
// object is closed: no later object has its number.
type slot struct{ object, hash, name uint32 }

// fewKeys is up to how many keys comparing each with each beats hashing.
const fewKeys = 8

// hashSeed is chosen anew by every process: nobody can send keys that collide.
var hashSeed = maphash.MakeSeed()

func (k *keySet) open() objectKeys {
	k.objects++
	return objectKeys{number: k.objects, first: len(k.names)}
}

func (k *keySet) close(o objectKeys) { k.names = k.names[:o.first] }

// add takes a key of the innermost open object and reports whether it is new.
func (k *keySet) add(o objectKeys, key []byte) bool {
	own := k.names[o.first:]
	if len(own) < fewKeys {
		k.names = append(k.names, key)
		return !slices.ContainsFunc(own, func(other []byte) bool { return bytes.Equal(key, other) })
	}
	if len(own) == fewKeys {
		for i := range own {
			k.insert(o, o.first+i)
		}
	}
	k.names = append(k.names, key)
	return k.insert(o, len(k.names)-1)
}

// insert puts a name into the table and reports whether it is new to its object.
func (k *keySet) insert(o objectKeys, name int) bool {
	if 2*k.used >= len(k.table) {
		k.grow()
	}
	key := k.names[name]
	s := slot{object: o.number, hash: hashKey(o.number, key), name: uint32(name)}
	for i := k.place(s.hash); ; i = (i + 1) % len(k.table) {
		switch there := k.table[i]; {
		case there.object == 0:
			k.table[i] = s
			k.used++
			return true
		case there.object == s.object && there.hash == s.hash && bytes.Equal(key, k.names[there.name]):
			return false
		}
	}
}

// grow doubles the table. Its length is always a power of two.
func (k *keySet) grow() {
	old := k.table
	k.table = make([]slot, max(64, 2*len(old)))
	for _, s := range old {
		if s.object == 0 {
			continue
		}
		i := k.place(s.hash)
		for k.table[i].object != 0 {
			i = (i + 1) % len(k.table)
		}
		k.table[i] = s
	}
}

func (k *keySet) place(hash uint32) int { return int(hash) & (len(k.table) - 1) }

// hashKey mixes the object's number in, so that the same keys in many objects
// spread over the table.
func hashKey(object uint32, key []byte) uint32 {
	const golden = 0x9E3779B97F4A7C15
	h := (maphash.Bytes(hashSeed, key) ^ uint64(object)) * golden
	return uint32(h >> 32)
}
