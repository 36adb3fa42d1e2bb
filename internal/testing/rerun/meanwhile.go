package rerun

import (
	"context"
	"sync"

	"github.com/countersign/countersign/internal/storage/store"
)

// Meanwhile makes a store that calls act once, just before the next Update: between a caller's read and
// the transaction in which it writes.
func Meanwhile(below store.Store, act func()) store.Store {
	return &meanwhile{Store: below, act: act}
}

type meanwhile struct {
	store.Store
	act  func()
	once sync.Once
}

// Update implements store.Store.
func (m *meanwhile) Update(ctx context.Context, fn func(store.Tx) error) error {
	m.once.Do(m.act)
	return m.Store.Update(ctx, fn)
}
