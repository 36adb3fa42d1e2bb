package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// fleet is the instances of many agents, in the order in which they beat.
type fleet struct {
	instances []*instance
	turn      int // of the next to beat
	senders   int // at once
}

// instance is one process of an agent.
type instance struct {
	path, id string

	mu       sync.Mutex // one heartbeat at a time: their sequences must arrive in order
	sequence int64
}

// enlist syncs agents in one manifest and gives each its instances. They aren't
// admitted: heartbeats count either way.
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

// shuffle makes neighbours in time no neighbours in the store, as with processes
// that were started at any time. The order is the same each time.
func (f *fleet) shuffle() {
	order := rand.New(rand.NewPCG(1, 2))
	order.Shuffle(len(f.instances), func(i, j int) { f.instances[i], f.instances[j] = f.instances[j], f.instances[i] })
}

// patience is how long an instance waits for its answer. An answer later than
// that is an error.
const patience = 10 * time.Second

// beat sends an instance's next heartbeat. Its state changes each time, which
// moves it in the store's index.
func (p *product) beat(i *instance) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sequence++
	state := [...]string{"IDLE", "BUSY"}[i.sequence%2]
	doc := fmt.Appendf(nil, `{"instanceId":%q,"sequence":%d,"state":%q,"timestamp":%q}`, i.id, i.sequence, state, time.Now().UTC().Format(time.RFC3339Nano))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var ack struct {
		Acknowledged, Duplicate bool
		Sequence                int64
		Error, Message          string
	}
	status, err := p.exchange(ctx, "POST", i.path, doc, "", &ack)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK || !ack.Acknowledged || ack.Duplicate || ack.Sequence != i.sequence:
		return fmt.Errorf("heartbeat %d of %s: %d %+v", i.sequence, i.id, status, ack)
	}
	return nil
}
