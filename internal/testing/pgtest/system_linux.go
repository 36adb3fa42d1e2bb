package pgtest

import "syscall"

// endWithUs kills the server with the test process, also if that is killed.
func endWithUs(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGQUIT }

// inMemory is a directory in memory with space for many databases, "" if there is none. A server that
// needn't outlive the tests creates databases ten times as fast there.
func inMemory() string {
	const folder, room = "/dev/shm", 4 << 30
	var free syscall.Statfs_t
	if syscall.Statfs(folder, &free) != nil || free.Bavail*uint64(free.Bsize) < room {
		return ""
	}
	return folder
}
