package agents

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Beat is the command `agents beat`.
type Beat struct {
	ID       string        `arg:"" help:"The agent's id."`
	Instance string        `help:"Names this process, the same after a restart. Default: this machine's name. Needed with --once." placeholder:"NAME"`
	State    string        `enum:"IDLE,BUSY,ERROR" default:"IDLE" help:"What the instance says of itself: IDLE, BUSY or ERROR."`
	Every    time.Duration `default:"30s" help:"How often." placeholder:"30s"`
	Once     bool          `help:"One heartbeat, for what has a schedule of its own."`
	service.Asking
}

// Run sends one heartbeat, or one at each interval until it is interrupted.
func (b *Beat) Run(t *terminal.Terminal) error {
	if b.Every < time.Second {
		return terminal.Unusablef("--every must be 1s or more; the service expects a heartbeat about every 30s")
	}
	if b.Once {
		return b.once(t)
	}
	c, err := b.Client(t)
	if err != nil {
		return err
	}
	if _, err := c.Agent(t.Context, b.ID); err != nil { // an agent that can't be read ends the command before the first heartbeat
		return err
	}
	fmt.Fprintf(t.Errs, "heartbeats of %s every %s; interrupt to end\n", words.Plain(b.ID), b.Every)
	if err := c.KeepAlive(t.Context, client.KeepAlive{AgentID: b.ID, InstanceID: b.Instance, Every: b.Every, State: b.state, Failed: func(err error) { terminal.Say(t.Errs, err.Error()) }}); err != nil {
		return err
	}
	return t.Context.Err()
}

func (b *Beat) state() countersign.InstanceState { return countersign.InstanceState(b.State) }

// once sends one heartbeat. Its sequence is the time in milliseconds, which increases.
func (b *Beat) once(t *terminal.Terminal) error {
	if b.Instance == "" {
		return terminal.Unusablef("--once needs --instance: the same name each time, so that it is one instance")
	}
	now := time.Now()
	beat := countersign.Heartbeat{InstanceID: b.Instance, Sequence: now.UnixMilli(), State: b.state(), Timestamp: now.UTC().Format(time.RFC3339Nano)}
	return service.ShowRecord(t, b.Asking, func(c *client.Client) (*countersign.HeartbeatAck, error) { return c.Heartbeat(t.Context, b.ID, beat) },
		func(w io.Writer, a *countersign.HeartbeatAck) {
			fmt.Fprintf(w, "heartbeat of %s of %s accepted; the agent is %s\n", words.Plain(a.InstanceID), a.AgentID, a.Liveness)
		})
}
