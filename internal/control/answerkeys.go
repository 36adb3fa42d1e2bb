package control

import (
	"github.com/countersign/countersign/internal/control/storewide"
	"github.com/countersign/countersign/internal/storage/store"
)

// SharedAnswerKey is an answer key that projects of different addresses have.
type SharedAnswerKey = storewide.SharedAnswerKey

// SharedAnswerKeys lists them over all tenants.
func SharedAnswerKeys(tx store.Tx) ([]SharedAnswerKey, error) { return storewide.SharedAnswerKeys(tx) }
