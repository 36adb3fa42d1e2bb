package connlimit

// File descriptors that are kept free for the store, the database, mail, calls to projects
// and the Go runtime.
const (
	mostKeptFree = 1024
	// most bounds the memory that connections take, some 40 KiB each.
	most = 16384
)

// Room returns how many connections a process may accept that may open this many file
// descriptors; 0 means that the limit is not known.
func Room(descriptors uint64) int {
	if descriptors == 0 {
		return most
	}
	return int(min(most, descriptors-min(mostKeptFree, descriptors/2)))
}
