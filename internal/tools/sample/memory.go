package sample

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/receiver"
)

// memory is what the receiver kit remembers of keys. It is a part of the shop's log: the line of a
// request says what became of its key, and is written before the request is answered. So effect,
// key and answer are kept together or not at all, and no key is ever in doubt. The shop's lock
// serializes all of it.
type memory struct {
	known map[string]receiver.Entry
	begun *receiver.Entry  // by the request at work; known once its line is written
	since func() time.Time // of the first line; the zero time for a log that is kept nowhere
}

// Mark is what a line of the log says of a key.
type Mark struct {
	Key       string `json:"key"`
	Payload   string `json:"payload,omitempty"`
	Withdrawn bool   `json:"withdrawn,omitempty"`
}

// Claim implements receiver.Store.
func (m *memory) Claim(_ context.Context, c receiver.Claim) (receiver.Entry, bool, error) {
	return m.begin(receiver.Entry{Claim: c, State: receiver.Claimed})
}

// Withdraw implements receiver.Memory.
func (m *memory) Withdraw(_ context.Context, key string, at time.Time) (receiver.Entry, bool, error) {
	return m.begin(receiver.Entry{Claim: receiver.Claim{Key: key, At: at}, State: receiver.Withdrawn})
}

func (m *memory) begin(e receiver.Entry) (receiver.Entry, bool, error) {
	if known, is := m.known[e.Key]; is {
		return known, false, nil
	}
	m.begun = &e
	return e, true, nil
}

// Finish implements receiver.Store.
func (m *memory) Finish(_ context.Context, key string, a receiver.Answer) error {
	if m.begun == nil || m.begun.Key != key || m.begun.State != receiver.Claimed {
		return receiver.ErrNotClaimed
	}
	m.begun.State, m.begun.Answer = receiver.Finished, a
	return nil
}

// Release implements receiver.Store.
func (m *memory) Release(_ context.Context, key string) error {
	if m.begun == nil || m.begun.Key != key || m.begun.State != receiver.Claimed {
		return receiver.ErrNotClaimed
	}
	m.begun = nil
	return nil
}

// Look implements receiver.Memory.
func (m *memory) Look(_ context.Context, key string) (receiver.Entry, bool, error) {
	e, is := m.known[key]
	return e, is, nil
}

// Since implements receiver.Memory.
func (m *memory) Since(_ context.Context, now time.Time) (time.Time, error) {
	if at := m.since(); !at.IsZero() {
		return at, nil
	}
	return now, nil
}

// RestoredAt implements receiver.Memory.
func (m *memory) RestoredAt(context.Context) (time.Time, error) { return time.Time{}, nil }

// Restored implements receiver.Memory.
func (m *memory) Restored(context.Context, time.Time) error {
	return errors.New("the shop's log is kept once, and never restored")
}

// take ends a request: what it has begun stands in its line.
func (m *memory) take() *Mark {
	e := m.begun
	m.begun = nil
	if e == nil || e.State == receiver.Claimed {
		return nil
	}
	return &Mark{Key: e.Key, Payload: e.Payload, Withdrawn: e.State == receiver.Withdrawn}
}

// keep knows from a line that was written what became of its key.
func (m *memory) keep(e Entry) {
	if e.Mark == nil {
		return
	}
	known := receiver.Entry{Claim: receiver.Claim{Key: e.Mark.Key, Payload: e.Mark.Payload, At: e.At}, State: receiver.Withdrawn}
	if !e.Mark.Withdrawn {
		known.State, known.Answer = receiver.Finished, receiver.Answer{Status: e.Status, ContentType: contentType, Body: e.Answer}
	}
	m.known[e.Mark.Key] = known
}
