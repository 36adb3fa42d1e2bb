package pgtest

import "syscall"

// endWithUs ends the server also when the tests are killed.
func endWithUs(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGQUIT }

// inMemory is a folder in memory with room for many databases, "" where there is
// none. A server that needn't outlive the tests makes a database ten times as fast
// there.
func inMemory() string {
	const folder, room = "/dev/shm", 4 << 30
	var free syscall.Statfs_t
	if syscall.Statfs(folder, &free) != nil || free.Bavail*uint64(free.Bsize) < room {
		return ""
	}
	return folder
}
