package connlimit

// What is kept free of the process's descriptors: for the store, for calls to
// projects, mail and the database, and for what Go itself opens.
const (
	mostKeptFree = 1024
	// most bounds the memory that connections take, some 40 KiB each.
	most = 16384
)

// Room is how many connections a process may have that may open this many
// descriptors; 0 says that it isn't known.
func Room(descriptors uint64) int {
	if descriptors == 0 {
		return most
	}
	return int(min(most, descriptors-min(mostKeptFree, descriptors/2)))
}
