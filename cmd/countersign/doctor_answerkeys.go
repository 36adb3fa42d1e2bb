package main

import (
	"context"
	"errors"
	"strings"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkAnswerKeys warns of an answer key that projects of different addresses share: it belongs
// to one memory.
func checkAnswerKeys(ctx context.Context, cfg config) (found []finding) {
	var shared []control.SharedAnswerKey
	there, err := peek(ctx, cfg.Store, func(tx store.Tx) (err error) {
		shared, err = control.SharedAnswerKeys(tx)
		return err
	})
	switch {
	case !there, errors.Is(err, sqlite.ErrBehind):
		return nil // what the other checks report
	case err != nil:
		return []finding{bad("answer keys", "look again; if it stays so, restore a backup", "which projects share an answer key is not known: %v", err)}
	}
	for _, s := range shared {
		var where []string
		for _, p := range s.Projects {
			where = append(where, p.BaseURL+" (project "+p.ID+" of tenant "+p.TenantID+")")
		}
		found = append(found, warn("answer keys", "give each receiver a key of its own, and register that: one receiver's word would count as the other's", "%s signs at different addresses: %s", s.Key, strings.Join(where, ", ")))
	}
	return found
}
