package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// KeepAlive is an instance's heartbeats (specification 2.15).
type KeepAlive struct {
	AgentID    string
	InstanceID string                           // names this process, the same after a restart; default: this machine's name. Two processes at a time need one each, such as refunds-0
	Every      time.Duration                    // default 30 s, of which a tenth is random
	State      func() countersign.InstanceState // asked before each beat; default IDLE
	Failed     func(error)                      // told what went wrong; the next beat comes all the same
}

// KeepAlive beats until ctx ends. Sequences begin with the time in milliseconds,
// so that an instance that starts again under its name goes on above its earlier
// ones, and one that the service has seen a higher sequence of jumps ahead.
func (c *Client) KeepAlive(ctx context.Context, k KeepAlive) {
	if k.InstanceID == "" {
		k.InstanceID = hostInstance(os.Hostname)
	}
	if k.Every == 0 {
		k.Every = countersign.HeartbeatCadence
	}
	for sequence := time.Now().UnixMilli(); ; sequence++ {
		_, err := c.Heartbeat(ctx, k.AgentID, k.beat(sequence))
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrSequenceConflict) {
			sequence = max(sequence+1000, time.Now().UnixMilli())
		}
		if err != nil && k.Failed != nil {
			k.Failed(err)
		}
		tenth := k.Every / 10
		if !pause(ctx, k.Every-tenth+rand.N(2*tenth+1)) {
			return
		}
	}
}

// hostInstance is an instance's name by its machine, which recurs where the process
// starts again: the service keeps each name that it has heard.
func hostInstance(hostname func() (string, error)) string {
	name, err := hostname()
	if err != nil {
		name = ""
	}
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, name)
	return "host-" + name[:min(len(name), 100)]
}

func (k KeepAlive) beat(sequence int64) countersign.Heartbeat {
	state := countersign.InstanceIdle
	if k.State != nil {
		state = k.State()
	}
	return countersign.Heartbeat{InstanceID: k.InstanceID, Sequence: sequence, State: state, Timestamp: time.Now().UTC().Format(time.RFC3339Nano)}
}
