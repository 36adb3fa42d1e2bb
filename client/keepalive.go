package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// KeepAlive describes the heartbeats of an instance (specification 2.15).
type KeepAlive struct {
	AgentID    string
	InstanceID string                           // identifies this process also after a restart; default: this machine's name. Concurrent processes need different ids, such as refunds-0
	Every      time.Duration                    // default 30 s, of which a tenth is random
	State      func() countersign.InstanceState // called before each heartbeat; default IDLE
	Failed     func(error)                      // called with the error of a heartbeat; KeepAlive continues
}

// KeepAlive sends heartbeats until ctx ends. The first sequence number is the time in
// milliseconds, so that a restarted instance continues above its earlier ones. If the service has
// received a higher one, from a clock that was ahead, KeepAlive continues above that, once. A
// further conflict means that another process uses the same instance id: KeepAlive then returns an
// error and leaves the id to that process.
func (c *Client) KeepAlive(ctx context.Context, k KeepAlive) error {
	if k.InstanceID == "" {
		k.InstanceID = hostInstance(os.Hostname)
	}
	if k.Every == 0 {
		k.Every = countersign.HeartbeatCadence
	}
	settled := false // the sequence is above all earlier ones of this instance id
	for sequence := time.Now().UnixMilli(); ; sequence++ {
		_, err := c.Heartbeat(ctx, k.AgentID, k.beat(sequence))
		if ctx.Err() != nil {
			return nil
		}
		conflict := errors.Is(err, ErrSequenceConflict)
		if conflict && settled {
			err = fmt.Errorf("another process beats as instance %s of agent %s; give each process an instance id of its own: %w", k.InstanceID, k.AgentID, err)
		}
		if err != nil && k.Failed != nil {
			k.Failed(err)
		}
		switch {
		case conflict && settled:
			return err
		case conflict:
			sequence, settled = c.above(ctx, k, sequence)
		case err == nil:
			settled = true
		}
		tenth := k.Every / 10
		if !pause(ctx, k.Every-tenth+rand.N(2*tenth+1)) {
			return nil
		}
	}
}

// above returns the highest sequence number that the service has received from the instance; known
// is false if the service can't be asked now.
func (c *Client) above(ctx context.Context, k KeepAlive, sequence int64) (heard int64, known bool) {
	a, err := c.Agent(ctx, k.AgentID)
	if err != nil {
		return sequence, false
	}
	for _, i := range a.Instances {
		if i.InstanceID == k.InstanceID {
			sequence = max(sequence, i.Sequence)
		}
	}
	return max(sequence, time.Now().UnixMilli()), true
}

// hostInstance makes an instance id from the machine's name, which is the same after a restart: the
// service stores every instance id that it has received.
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
