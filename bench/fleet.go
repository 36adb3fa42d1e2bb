package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// fleet has the instances of many agents, in the order of their heartbeats.
type fleet struct {
	instances []*instance
	turn      int // index of the next instance to send a heartbeat
	senders   int // heartbeats sent concurrently
}

// instance is one process of an agent.
type instance struct {
	path, id string

	mu       sync.Mutex // held during a heartbeat: sequence numbers must arrive in order
	sequence int64
}

// enlist registers agents by one manifest and makes the instances of each. It doesn't admit
// the agents: their heartbeats are accepted also without admission.
func (p *product) enlist(agents, instances, senders int) (*fleet, error) {
	var items []object
	for i := range agents {
		items = append(items, object{
			"externalAgentId": fmt.Sprintf("bench-%03d", i), "sourceRevision": 1, "name": "bench", "role": "clerk", "goal": "help", "capabilities": []string{"post"},
		})
	}
	out, err := p.must("POST", "/systems/default-bench/agents/sync", object{"schemaVersion": "1.0", "agents": items})
	if err != nil {
		return nil, err
	}
	f := &fleet{senders: senders}
	for _, item := range out["items"].([]any) {
		path := "/agents/" + item.(object)["id"].(string) + "/heartbeat"
		for i := range instances {
			f.instances = append(f.instances, &instance{path: path, id: fmt.Sprintf("instance-%03d", i)})
		}
	}
	return f, nil
}

// shuffle puts the instances into a random order, so that consecutive heartbeats aren't of
// neighbors in the store: real processes start in any order. The seed is fixed, so the order
// is the same in each execution.
func (f *fleet) shuffle() {
	order := rand.New(rand.NewPCG(1, 2))
	order.Shuffle(len(f.instances), func(i, j int) { f.instances[i], f.instances[j] = f.instances[j], f.instances[i] })
}

// heartbeatTimeout is how long an instance waits for the answer to a heartbeat. A later answer is an
// error.
const heartbeatTimeout = 10 * time.Second

// beat sends the next heartbeat of an instance. It must be acknowledged.
func (p *product) beat(i *instance) error {
	_, err := p.beatStatus(i)
	return err
}

// beatStatus does the same and returns the status, 0 if there was no answer. The state differs
// in each heartbeat, so that the store has to change its index.
func (p *product) beatStatus(i *instance) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sequence++
	state := [...]string{"IDLE", "BUSY"}[i.sequence%2]
	doc := fmt.Appendf(nil, `{"instanceId":%q,"sequence":%d,"state":%q,"timestamp":%q}`, i.id, i.sequence, state, time.Now().UTC().Format(time.RFC3339Nano))
	ctx, cancel := context.WithTimeout(context.Background(), heartbeatTimeout)
	defer cancel()
	var ack struct {
		Acknowledged, Duplicate bool
		Sequence                int64
		Error, Message          string
	}
	status, err := p.exchange(ctx, "POST", i.path, doc, "", &ack)
	switch {
	case err != nil:
		return 0, err
	case status != http.StatusOK || !ack.Acknowledged || ack.Duplicate || ack.Sequence != i.sequence:
		return status, fmt.Errorf("heartbeat %d of %s: %d %+v", i.sequence, i.id, status, ack)
	}
	return status, nil
}
