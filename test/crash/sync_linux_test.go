package crash

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wrapped is the variable with the program that this test binary executes after it has made the kernel fail each fsync.
const wrapped = "COUNTERSIGN_CRASH_WRAPPED"

func init() {
	if program := os.Getenv(wrapped); program != "" {
		panic(becomeWithoutSyncs(program)) // returns only after an error
	}
}

var stagesOfThisSystem = []stage{
	{name: "a sync fails", from: ready, program: withoutSyncs, acts: (*life).failedWrite, status: 1},
}

// withoutSyncs is a program that executes the one under test with a seccomp filter that answers EIO to fsync.
func withoutSyncs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func becomeWithoutSyncs(program string) error {
	runtime.LockOSThread() // the filter belongs to this thread and is kept by exec
	const number = 0       // offset of the system call's number in the filter's input
	const refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 2},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: refuse},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	list := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&list)), 0, 0); err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, os.Environ())
}
