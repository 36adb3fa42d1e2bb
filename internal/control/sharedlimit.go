package control

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/platform/throttle"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// sharedLimit keeps the buckets in the store, for all processes on it. Clocks of
// different machines meet here: by as much as they differ a key waits longer or
// shorter.
//
// Strangers write to the store by it, so it is bounded. A limit is limitParts
// records at most, each with the buckets of limitKeys keys at most, some 1.5 KiB:
// 3 MiB in all, whoever comes. The hash of a key says which record it belongs to.
// Where that has no place, the key that holds least makes room, as in a process's
// memory: who comes as many keeps nobody out. What is full again goes when its record is written, and records that hold
// nothing any more go as new ones are made.
//
// What a process refuses by itself costs no write: it has seen no more attempts
// than all have together. So a flood from one address is one commit an interval.
type sharedLimit struct {
	own   *throttle.Throttle
	store store.Store
	name  string
	rate  throttle.Rate
}

const (
	limitParts = 1 << 11
	limitKeys  = 32
	limitSwept = 4 // records that are looked at for each new one
)

// errOver ends the transaction of a refused attempt, which then writes nothing.
var errOver = errors.New("control: over the limit")

// Allow implements limit.
func (l *sharedLimit) Allow(ctx context.Context, key string, now time.Time) (bool, error) {
	if !l.own.Allow(key, now) {
		return false, nil
	}
	part, name := l.place(key)
	err := l.store.Update(ctx, func(tx store.Tx) error { return l.take(tx, part, name, now) })
	if errors.Is(err, errOver) {
		return false, nil
	}
	return err == nil, err
}

// Return implements limit.
func (l *sharedLimit) Return(ctx context.Context, key string, now time.Time) error {
	l.own.Return(key, now)
	part, name := l.place(key)
	return l.store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := records.Limits.Get(tx, store.Realm, part)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		held := l.held(rec, now)
		if bucket, ok := held[name]; ok {
			held[name] = l.rate.Return(time.UnixMicro(bucket), now).UnixMicro()
		}
		_, err = records.Limits.Put(tx, store.Realm, part, &records.Limit{Buckets: held}, version)
		return err
	})
}

// place is the record of a key and its name in it, by which nobody is known.
func (l *sharedLimit) place(key string) (part, name string) {
	sum := sha256.Sum256([]byte(key))
	n := (int(sum[0])<<8 | int(sum[1])) % limitParts
	return records.LimitID(l.name, fmt.Sprintf("%03x", n)), base64.RawURLEncoding.EncodeToString(sum[2:14])
}

func (l *sharedLimit) take(tx store.Tx, part, name string, now time.Time) error {
	rec, version, err := records.Limits.Get(tx, store.Realm, part)
	if errors.Is(err, store.ErrNotFound) {
		rec, version, err = &records.Limit{}, 0, l.sweep(tx, part, now)
	}
	if err != nil {
		return err
	}
	held := l.held(rec, now)
	bucket, known := held[name]
	if !known && len(held) >= limitKeys {
		delete(held, least(held))
	}
	after, allowed := l.rate.Take(time.UnixMicro(bucket), now)
	if !allowed {
		return errOver
	}
	held[name] = after.UnixMicro()
	_, err = records.Limits.Put(tx, store.Realm, part, &records.Limit{Buckets: held}, version)
	return err
}

// least is the name of the bucket that is full again soonest.
func least(held map[string]int64) (name string) {
	for other, bucket := range held {
		if name == "" || bucket < held[name] || bucket == held[name] && other < name {
			name = other
		}
	}
	return name
}

// held are the buckets that are not full again.
func (l *sharedLimit) held(rec *records.Limit, now time.Time) map[string]int64 {
	held := map[string]int64{}
	for name, bucket := range rec.Buckets {
		if l.rate.Holds(time.UnixMicro(bucket), now) {
			held[name] = bucket
		}
	}
	return held
}

// sweep deletes the next few records that hold nothing any more. Hashes come evenly,
// so each has its turn.
func (l *sharedLimit) sweep(tx store.Tx, part string, now time.Time) error {
	rows, err := tx.List(store.Meta, store.Realm, store.Query{Limit: limitSwept, Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{part}}, {Column: "id", Op: store.AtMost, Values: []any{records.AfterLimit(l.name)}},
	}})
	for _, row := range rows {
		var rec records.Limit
		if err := records.Decode(row, &rec); err != nil {
			return err
		}
		if len(l.held(&rec, now)) == 0 {
			err = errors.Join(err, tx.Delete(store.Meta, store.Realm, row.ID))
		}
	}
	return err
}
