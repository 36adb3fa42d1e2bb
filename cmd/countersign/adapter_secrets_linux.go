package main

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hideSecrets takes secrets out of the environment once they are read, also out of the memory by
// which other processes see it, and keeps other processes of the same user out of this one's:
// an upstream's command may be such a process.
func hideSecrets(names []string) {
	for _, name := range names {
		_ = os.Unsetenv(name) // it has a name
	}
	overwriteEnvironment(names)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// overwriteEnvironment clears these variables in the memory that /proc/PID/environ shows. Where
// there is no /proc nobody reads it there.
func overwriteEnvironment(names []string) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the first is the 3rd of proc(5)
	const first, from, to = 3, 50, 51
	if len(fields) <= to-first {
		return
	}
	start, err := strconv.ParseInt(fields[from-first], 10, 64)
	end, failed := strconv.ParseInt(fields[to-first], 10, 64)
	if err != nil || failed != nil || end <= start {
		return
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer func() { _ = memory.Close() }()
	block := make([]byte, end-start)
	if _, err := memory.ReadAt(block, start); err != nil {
		return
	}
	at := start
	for _, entry := range bytes.SplitAfter(block, []byte{0}) {
		if name, value, found := bytes.Cut(bytes.TrimSuffix(entry, []byte{0}), []byte("=")); found && slices.Contains(names, string(name)) {
			_, _ = memory.WriteAt(make([]byte, len(value)), at+int64(len(name))+1) // it is our own
		}
		at += int64(len(entry))
	}
}
