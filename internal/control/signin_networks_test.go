package control_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/control"
)

// asking is a process that makes codes.
func (l *limitFixture) asking() *control.Service {
	cfg := control.Config{Now: func() time.Time { return l.now }, NewSecret: func() (s [32]byte) {
		_, _ = rand.Read(s[:])
		return s
	}}
	s := control.New(cfg, l.store, nil, nil, nil, nil, slog.New(slog.DiscardHandler))
	l.t.Cleanup(s.Close)
	return s
}

// asks says whether a code may be asked for.
func (l *limitFixture) asks(at *control.Service, from string) bool {
	l.t.Helper()
	_, err := at.AskForCode(background, "ada@example.com", from)
	if err != nil && !errors.Is(err, control.ErrTooMany) {
		l.t.Fatal(err)
	}
	return err == nil
}

// TestOneSitesFloodIsAHandfulOfCodes: a subscriber may have 65,536 networks of 64 bits.
func TestOneSitesFloodIsAHandfulOfCodes(t *testing.T) {
	d := newDoor(t)
	alone := d.asking()
	allowed := 0
	for n := range 600 {
		if d.asks(alone, fmt.Sprintf("2001:db8:7:%x::1", n)) {
			allowed++
		}
	}
	if allowed != 10 {
		t.Errorf("%d codes for one site", allowed)
	}
	for _, from := range []string{"2001:db8:8::1", office} {
		if !d.asks(alone, from) {
			t.Errorf("%s pays for another site", from)
		}
	}
}

// TestOneNetworkNeverRefusesItsNeighbor, however long it asks.
func TestOneNetworkNeverRefusesItsNeighbor(t *testing.T) {
	for stranger, user := range map[string]string{"2001:db8:7:1::1": "2001:db8:7:2::1", "198.51.100.7": "198.51.100.8"} {
		d := newDoor(t)
		alone := d.asking()
		for range 40 {
			for d.asks(alone, stranger) {
			}
			d.now = d.now.Add(time.Minute)
		}
		for n := range 5 {
			if !d.asks(alone, user) {
				t.Errorf("%s: ask %d was refused for %s", user, n+1, stranger)
			}
		}
	}
}

func TestTheMailOfACodeSaysWhoAskedAndWhen(t *testing.T) {
	at := newDoor(t).now
	for from, want := range map[string]string{
		"::ffff:192.0.2.7": "from 192.0.2.7 on 2026-03-01 at 12:00 UTC",
		"2001:db8::1%eth0": "from 2001:db8::1 on 2026-03-01 at 12:00 UTC",
		"<b>\r\nBcc: x":    "from an unknown network address on 2026-03-01 at 12:00 UTC",
	} {
		if text := control.CodeText("12345678", from, at); !strings.Contains(text, want) || !strings.Contains(text, " 12345678.") {
			t.Errorf("%q: %s", from, text)
		}
	}
}
