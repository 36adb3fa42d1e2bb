package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAShareIsWrittenAsTheKernelWantsIt, in the files of both versions of control groups.
func TestAShareIsWrittenAsTheKernelWantsIt(t *testing.T) {
	for version, c := range map[string]struct {
		controllers string // of version 2
		dir         string
		want        map[string]string
	}{
		"1":                    {"", "cpu/bench", map[string]string{"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "2500", "cgroup.procs": "42"}},
		"2":                    {"cpuset cpu io\n", "bench", map[string]string{"cpu.max": "2500 10000", "cgroup.procs": "42"}},
		"2 without processors": {"cpuset io\n", "cpu/bench", map[string]string{"cpu.cfs_quota_us": "2500"}},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "cpu"), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.controllers != "" {
			if err := os.WriteFile(filepath.Join(root, "cgroup.controllers"), []byte(c.controllers), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := newShare(root, "bench", 0.25)
		if err != nil {
			t.Fatal(version, err)
		}
		if err := s.add(42); err != nil {
			t.Fatal(version, err)
		}
		for file, want := range c.want {
			if got, err := os.ReadFile(filepath.Join(root, c.dir, file)); err != nil || string(got) != want {
				t.Errorf("version %s: %s is %q, %v", version, file, got, err)
			}
		}
	}
}

// TestNoControlGroupsIsAnErrorThatSaysWhatNeedsThem.
func TestNoControlGroupsIsAnErrorThatSaysWhatNeedsThem(t *testing.T) {
	if _, err := newShare(filepath.Join(t.TempDir(), "none"), "bench", 0.25); err == nil || !strings.Contains(err.Error(), "-share needs control groups") {
		t.Error(err)
	}
}
