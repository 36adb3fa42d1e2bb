package oidc_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/oidc"
)

func providerAt(url string) *oidc.Provider {
	return oidc.New(oidc.Config{Issuer: url, ClientID: "c", RedirectURL: "http://127.0.0.1/callback", Now: time.Now})
}

// TestNobodyQueuesForASlowIssuer: the issuer gets one request, and a caller that leaves
// does not wait for it.
func TestNobodyQueuesForASlowIssuer(t *testing.T) {
	t.Parallel()
	asked, gate := make(chan struct{}, 9), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-gate
	}))
	defer slow.Close()
	p := providerAt(slow.URL)
	stayed, left := make(chan error, 1), make(chan error, 1)
	go func() { stayed <- p.Reach(context.Background()) }()
	<-asked
	leaves, cancel := context.WithCancel(context.Background())
	cancel()
	go func() { left <- p.Reach(leaves) }()
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("who left is told %v", err)
		}
	case err := <-stayed:
		t.Fatalf("who left waits for somebody else's request, which ended with %v", err)
	}
	close(gate)
	if err := <-stayed; err == nil {
		t.Error("an empty description is taken")
	}
	if len(asked) > 0 {
		t.Error("the issuer was asked twice")
	}
}
