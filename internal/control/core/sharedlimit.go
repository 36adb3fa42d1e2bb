package core

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

// sharedLimit stores the buckets for all processes on the store. If the machines' clocks
// differ, a key waits longer or shorter by the difference.
//
// Requests without a token write here, so its size is bounded: a limit has at most
// limitParts records, each with the buckets of at most limitKeys keys, some 1.5 KiB; 3 MiB
// in all. A key's record follows from its hash. If the record is full, the key with the
// fewest attempts is dropped, so many addresses can't keep others out. Buckets without
// attempts are dropped when their record is written; empty records are deleted as new
// ones are made.
//
// A process that has itself seen too many attempts refuses without a write, so a flood
// from one address costs one commit an interval.
type sharedLimit struct {
	own   *throttle.Throttle
	store store.Store
	name  string
	rate  throttle.Rate
}

const (
	limitParts = 1 << 11
	limitKeys  = 32
	limitSwept = 4 // records that are checked for deletion with each new one
)

// errOverLimit ends the transaction of a refused attempt, which then writes nothing.
var errOverLimit = errors.New("control: over the limit")

// Allow implements limit.
func (l *sharedLimit) Allow(ctx context.Context, key string, now time.Time) (bool, error) {
	if !l.own.Allow(key, now) {
		return false, nil
	}
	part, name := l.place(key)
	err := l.store.Update(ctx, func(tx store.Tx) error { return l.take(tx, part, name, now) })
	if errors.Is(err, errOverLimit) {
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

// place returns the record of a key and its name there: a hash, which identifies nobody.
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
		return errOverLimit
	}
	held[name] = after.UnixMicro()
	_, err = records.Limits.Put(tx, store.Realm, part, &records.Limit{Buckets: held}, version)
	return err
}

// least names the bucket with the fewest attempts.
func least(held map[string]int64) (name string) {
	for other, bucket := range held {
		if name == "" || bucket < held[name] || bucket == held[name] && other < name {
			name = other
		}
	}
	return name
}

// held returns the buckets that still hold attempts.
func (l *sharedLimit) held(rec *records.Limit, now time.Time) map[string]int64 {
	held := map[string]int64{}
	for name, bucket := range rec.Buckets {
		if l.rate.Holds(time.UnixMicro(bucket), now) {
			held[name] = bucket
		}
	}
	return held
}

// sweep deletes the empty ones among the next few records. Hashes are spread evenly, so
// every record is reached.
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
