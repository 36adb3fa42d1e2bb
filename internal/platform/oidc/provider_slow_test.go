package oidc_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/platform/oidc"
)

// silence is a transport that waits until the request's context ends.
type silence struct{ asked atomic.Int32 }

func (s *silence) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestASilentIssuerIsAskedOnceForAllWhoWait: sign-ins must not queue, 10 seconds each.
func TestASilentIssuerIsAskedOnceForAllWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		issuer := &silence{}
		p := oidc.New(oidc.Config{Issuer: "https://accounts.example.com", Client: &http.Client{Transport: issuer}})
		begun := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, _, err := p.Begin(context.Background()); err == nil {
					t.Error("nobody answered, and it went on")
				}
			})
		}
		all.Wait()
		if took, asked := time.Since(begun), issuer.asked.Load(); took > oidc.Timeout || asked != 1 {
			t.Errorf("it took %s and %d requests", took, asked)
		}
	})
}

// TestWhoAskedFirstMayGo: when the caller that began the request for the description
// leaves, the other callers still get its result.
func TestWhoAskedFirstMayGo(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	began, goOn := make(chan bool), make(chan bool)
	p.Describing = func(*http.Request) { began <- true; <-goOn }
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, _, err := p.provider.Begin(ctx); first <- err }()
	<-began
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	close(goOn)
	if _, _, err := p.provider.Begin(t.Context()); err != nil { // a second request would wait for began
		t.Errorf("who came later: %v", err)
	}
}

func TestAnswersBeyondAMebibyteAreNotRead(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/.well-known/openid-configuration", "/keys"} {
		for size, ok := range map[int]bool{1 << 19: true, 2 << 20: false} {
			p := newPerson(t)
			p.Padding = map[string]int{path: size}
			err := p.signIn(t)
			if (err == nil) != ok || err != nil && (!strings.Contains(err.Error(), "too large") || len(err.Error()) > 500) {
				t.Errorf("%s with %d bytes: %.500v", path, size, err)
			}
		}
	}
}

func TestASignatureByASmallKeyIsRefused(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.SignWith(t, 1024)
	if err := p.signIn(t); err == nil || err.Error() != "the ID token is signed with an RSA key under 2048 bits" {
		t.Errorf("%v", err)
	}
}

// signIn does a whole sign-in.
func (p *person) signIn(t *testing.T) error {
	t.Helper()
	if err := p.provider.Reach(t.Context()); err != nil {
		return err
	}
	flow, state, code := p.begin(t)
	_, _, err := p.provider.Finish(t.Context(), flow, state, code)
	return err
}
