//go:build again

package main

import (
	"math/rand/v2"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// perhapsAgain returns a store that runs every function twice; see package rerun. Every other
// first run ends early.
func perhapsAgain(s store.Store) store.Store {
	return rerun.New(s, func() int {
		if rand.IntN(2) == 0 {
			return rerun.Whole
		}
		return 1 + rand.IntN(20)
	})
}
