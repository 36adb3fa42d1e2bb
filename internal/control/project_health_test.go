package control_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/runtime/updates"
)

// checking answers health checks in the order in which they are begun. While it has the first,
// something else happens.
type checking struct {
	healthyProber
	begun     []countersign.HealthCheck
	meanwhile func()
}

func (c *checking) Health(context.Context, string, map[string]string, *countersign.Project) countersign.HealthCheck {
	check, meanwhile := c.begun[0], c.meanwhile
	c.begun, c.meanwhile = c.begun[1:], nil
	if meanwhile != nil {
		meanwhile()
	}
	return check
}

// TestTheHealthCheckThatWasBegunLastDecides, whichever is answered last: no answer that comes late
// enables a project that was found broken since. Both are audited. Of two that don't overlap the
// second one decides, whatever the clocks of their replicas say.
func TestTheHealthCheckThatWasBegunLastDecides(t *testing.T) {
	h, at := open(t), time.Now()
	well, broken := countersign.HealthCheck{Healthy: true, CheckedAt: at}, countersign.HealthCheck{StatusCode: 500, CheckedAt: at.Add(time.Second)}
	prober := &checking{begun: []countersign.HealthCheck{well, broken, well}}
	service := control.New(h.cfg, h.store, h.repository, h, &updates.Hub{}, prober, slog.New(slog.DiscardHandler))
	check := func() {
		t.Helper()
		if _, err := service.CheckHealth(background, as("acme"), "acme-one"); err != nil {
			t.Error(err)
		}
	}
	stands := func(healthy bool) {
		t.Helper()
		p, err := service.Project(background, as("acme"), "acme-one")
		if h.must(err); p.Health == nil || p.Health.Healthy != healthy {
			t.Errorf("the project's health is %+v", p.Health)
		}
	}
	logged := len(h.log("acme", 0))
	prober.meanwhile = check
	check()
	stands(false)
	records := h.log("acme", logged)
	if len(records) != 2 || records[1].Reason == "" {
		t.Errorf("%+v", records)
	}
	check() // by a replica whose clock is behind
	stands(true)
}
