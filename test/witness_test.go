package test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/tools/witness"
	"github.com/countersign/countersign/test/harness"
)

// witnessed is a witness's server; it answers once a witness of it is opened.
type witnessed struct {
	*httptest.Server
	handler atomic.Pointer[http.Handler]
	vkey    string
	dir     string
	opened  *witness.Witness
}

func newWitnessed(t *testing.T, name string) *witnessed {
	t.Helper()
	w := &witnessed{dir: t.TempDir()}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if h := w.handler.Load(); h != nil {
			(*h).ServeHTTP(rw, r)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(w.Close)
	first, err := witness.Open(w.dir, name, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w.vkey = first.VKey()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	return w
}

// knows has the witness cosign logs.
func (w *witnessed) knows(t *testing.T, logKeys ...string) {
	t.Helper()
	var keys []checkpoint.Key
	for _, logKey := range logKeys {
		key, err := checkpoint.ParseLogKey(logKey)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	if w.opened == nil {
		t.Cleanup(func() { _ = w.opened.Close() })
	} else if err := w.opened.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.opened, err = witness.Open(w.dir, "", keys, time.Now); err != nil {
		t.Fatal(err)
	}
	h := witness.Handler(w.opened, slog.New(slog.DiscardHandler))
	w.handler.Store(&h)
}

// TestWitnessesCosignTheAuditLog, and say so when the store is rewound: it goes on, and tells.
func TestWitnessesCosignTheAuditLog(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	one, two := newWitnessed(t, "one.example"), newWitnessed(t, "two.example")
	logKey := s.Admin.Get("/integrations/contract").OK(t).At("logKey").Text()
	s.Admin.Get("/audit/checkpoint").Refused(t, "not_found", "there is no checkpoint that a witness has cosigned yet; witnesses are a setting of the service (SVC_PLATFORM_WITNESSES)")
	s.Stop()
	before := s.Copy(t)
	for _, w := range []*witnessed{one, two} {
		w.knows(t, logKey)
	}
	setting := harness.Set("WITNESSES", one.URL+" "+one.vkey+", "+two.URL+"/ "+two.vkey)
	s.Restart()
	s.Admin.Post("/tokens", doc{"name": "one", "roles": []string{"VIEWER"}}).OK(t)
	s.Stop()
	s.Restart(setting)
	var signed string
	harness.Until(t, "two witnesses cosign the log", func() bool {
		a := s.Admin.Get("/audit/checkpoint")
		if a.Status != http.StatusOK {
			return false
		}
		signed = a.OK(t).At("checkpoint").Text()
		return strings.Count(signed, "\n— ") == 3
	})
	key, err := checkpoint.ParseLogKey(logKey)
	if err != nil {
		t.Fatal(err)
	}
	head, err := checkpoint.Open(signed, key)
	if err != nil || head.Size == 0 {
		t.Errorf("%+v, %v", head, err)
	}
	var keys []checkpoint.Key
	for _, w := range []*witnessed{one, two} {
		k, err := checkpoint.ParseWitnessKey(w.vkey)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	if found := checkpoint.Cosignatures(signed, keys); len(found) != 2 {
		t.Errorf("%d cosignatures verify of\n%s", len(found), signed)
	}
	if v := s.Admin.Get("/audit/verify").OK(t); v.At("cosigned.checkpoint").Text() != signed {
		t.Errorf("the verification has another: %s", v)
	}
	if got := s.Admin.Get("/health").OK(t); got.At("auditRewound").Exists() {
		t.Errorf("%s", got)
	}
	before.MayLogErrors(true)
	before.Restart(setting)
	harness.Until(t, "a rewound store is told of", func() bool {
		return strings.Contains(before.Admin.Get("/health").OK(t).String(), `"auditRewound":["one.example","two.example"]`)
	})
	if got := before.Admin.Get("/health").OK(t); got.At("status").Text() != "ok" {
		t.Errorf("%s", got)
	}
}
