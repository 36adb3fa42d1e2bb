package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// sliceOf gives the parts of the full tier that are run after this commit.
func sliceOf(ctx context.Context, commit string, within time.Duration) ([]part, error) {
	id, err := commitID(ctx, commit)
	if err != nil {
		return nil, err
	}
	parts := slice(full, id, within)
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	fmt.Printf("The slice of %s: %s (make test-all PARTS=%s)\n", commit, strings.Join(names, ", "), strings.Join(names, ","))
	return parts, nil
}

// slice begins at the part that a commit points at and goes round, as long as the
// next part fits into the time; it has at least one part.
func slice(parts []part, commit string, within time.Duration) []part {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(commit)) // never fails
	first := int(sum.Sum32() % uint32(len(parts)))
	var out []part
	for i := range parts {
		p := parts[(first+i)%len(parts)]
		if within -= p.estimate; within < 0 && len(out) > 0 {
			break
		}
		out = append(out, p)
	}
	return out
}
