package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReplicasOfAMissingBinaryIsAnErrorThatNamesIt, whichever of the two builds is missing.
func TestReplicasOfAMissingBinaryIsAnErrorThatNamesIt(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "countersign")
	for _, args := range [][]string{{"-binary", missing}, {"-binary", "replicas_test.go", "-before", missing}} {
		if err := measureReplicas(append(args, "-dbos=false")); err == nil || !strings.Contains(err.Error(), "the product is not built: stat "+missing) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
