package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/testing/rerun"
)

const (
	grace   = 65 * time.Second
	origin  = "https://api.example.com"
	second  = "https://second.example.com"
	secret  = "SHOP_SECRET"
	renewed = "SHOP_SECRET_RENEWED"
	retries = 50
)

// process is one life of the service.
type process struct {
	session *session
	engine  *engine.Engine
	control *control.Service
	held    *lease.Keeper         // nil: no other process uses the store
	beside  []interface{ Stop() } // what else works in the background, in the order in which it began
}

func (s *sim) newID(kind string) string { return fmt.Sprintf("%s-%06d", kind, s.ids.Add(1)) }

// now is the service's clock, which may be wrong.
func (s *sim) now() time.Time {
	return time.Now().Add(s.epoch + time.Duration(s.clock.Load())).UTC().Truncate(time.Microsecond)
}

// boot starts a process on the disk. If a fault ends it during its start, boot starts it again, as a supervisor would.
func (s *sim) boot() {
	for range retries {
		if s.bootOnce() {
			return
		}
		s.disk.mend()
		s.say("the process ended at its start")
	}
	s.fail("the service does not start on a mended disk")
}

func (s *sim) bootOnce() bool {
	allowed := project.Allowed{
		Origins: []string{origin, second}, Credentials: listed(),
		SecretBytes: func(string) int { return 64 },
	}
	p := &process{session: s.disk.open()}
	rows := rerun.New(p.session, s.lose)
	id := ""
	if s.abreast > 0 {
		id = s.newID("replica")
	}
	calls := through{s.receiver, p.session}
	l := runrepo.New(runrepo.Config{Replica: id, MaxActive: s.limit, ApprovalTTL: s.ttl, NewID: s.newID, OriginAllowed: allowed.Origin, Now: s.now})
	hub := &updates.Hub{}
	log := slog.New(slog.DiscardHandler)
	p.engine = engine.New(rows, l, calls, hub, log)
	p.control = control.New(control.Config{
		Allowed: allowed, MaxActive: s.limit, Version: "simulated", NewID: s.newID,
		NewSecret: func() [32]byte { return [32]byte{} }, Now: s.now, Shared: s.abreast > 0,
	}, rows, l, p.engine, hub, calls, log)
	s.process = p
	if id != "" && p.share(id) != nil {
		p.end(0)
		return false
	}
	if p.engine.Start(context.Background()) == nil && !p.session.isDead() {
		return true
	}
	p.end(0)
	return false
}

// end ends the process; a grace of 0 is a kill -9.
func (p *process) end(grace time.Duration) {
	if grace == 0 {
		p.session.die()
	}
	for _, b := range slices.Backward(p.beside) {
		b.Stop()
	}
	p.engine.Stop(grace)
	p.session.die()
	p.control.Close()
}

// revive restarts the service if it has died.
func (s *sim) revive() {
	if s.abreast > 0 {
		s.replace()
		return
	}
	if !s.process.session.isDead() {
		return
	}
	s.say("the process is dead; it is started again")
	s.process.end(0)
	s.disk.mend()
	s.boot()
}

// listed allows the receiver's secret for each tenant.
func listed() (l credential.Lists) {
	for _, tenant := range tenants {
		l.General = append(l.General, credential.Entry{Name: secret, Tenant: tenant}, credential.Entry{Name: renewed, Tenant: tenant})
	}
	return l
}
