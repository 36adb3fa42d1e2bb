package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// sliceOf returns the parts of the full tier that run after this commit.
func sliceOf(ctx context.Context, commit string, within time.Duration) ([]part, error) {
	id, err := commitID(ctx, commit)
	if err != nil {
		return nil, err
	}
	parts := slice(full, id, within)
	if len(parts) == 0 {
		fmt.Printf("The slice of %s: no part of the full tier fits into %s\n", commit, within)
		return nil, nil
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	fmt.Printf("The slice of %s: %s (make test-all PARTS=%s)\n", commit, strings.Join(names, ", "), strings.Join(names, ","))
	return parts, nil
}

// slice begins at the part that the commit's hash selects and continues cyclically with each part that fits
// into the remaining time.
func slice(parts []part, commit string, within time.Duration) []part {
	sum := sha256.Sum256([]byte(commit))
	first := int(binary.BigEndian.Uint64(sum[:]) % uint64(len(parts)))
	var out []part
	for i := range parts {
		if p := parts[(first+i)%len(parts)]; p.estimate <= within {
			within -= p.estimate
			out = append(out, p)
		}
	}
	return out
}
