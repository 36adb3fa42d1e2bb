package main

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// temporary has the directories to remove when the benchmark is interrupted.
var temporary struct {
	sync.Mutex
	dirs []string
}

func makeTemporary(parent string) (string, error) {
	temporary.Lock()
	defer temporary.Unlock()
	dir, err := os.MkdirTemp(parent, "countersign-bench-")
	if err == nil {
		temporary.dirs = append(temporary.dirs, dir)
	}
	return dir, err
}

func removeTemporary(dir string) { _ = os.RemoveAll(dir) }

// endCleanly makes an interrupted benchmark end all its processes and remove its files.
func endCleanly() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-told
		temporary.Lock() // no further directory is made
		all := descendants([]int{os.Getpid()})[1:]
		for _, pid := range slices.Backward(all) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, dir := range temporary.dirs {
			removeTemporary(dir)
		}
		os.Exit(1)
	}()
}
