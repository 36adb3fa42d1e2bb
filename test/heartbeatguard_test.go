package test

import (
	"bytes"
	encoding "encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

func TestOfManyHeartbeatsAtOnceEachIsAcknowledgedAndEachSequenceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	n := w.recorded(t)
	name := func(i int) string { return fmt.Sprint("instance-", i%50) }
	rising := together(50, func(i int) string {
		for sequence := 1; sequence < 4; sequence++ {
			w.beats(id, beat(name(i), sequence, "IDLE")).OK(t).Is(t, "sequence", sequence).Is(t, "duplicate", false)
		}
		return result(w.beats(id, beat(name(i), 4, "IDLE")))
	})
	if rising["done"] != 50 {
		t.Errorf("the answers were %v", rising)
	}
	used := together(200, func(i int) string { return result(w.beats(id, beat(name(i), 1+i/50, "ERROR"))) })
	if used["sequence_conflict"] != 200 {
		t.Errorf("the answers were %v", used)
	}
	contrary := together(200, func(i int) string {
		return result(w.beats(id, harness.With(beat(name(i), 5, "BUSY"), "timestamp", away(time.Duration(i)*time.Millisecond))))
	})
	if contrary["done"] != 50 || contrary["sequence_conflict"] != 150 {
		t.Errorf("the answers were %v", contrary)
	}
	same := beat("one more", 1, "IDLE")
	copies := together(50, func(int) string {
		return fmt.Sprint(w.beats(id, same).OK(t).At("duplicate"))
	})
	if copies["false"] != 1 || copies["true"] != 49 {
		t.Errorf("the answers were %v", copies)
	}
	w.agent(t, id).Is(t, "instanceCount", 51).Is(t, "liveness", "BUSY")
	w.tenantAdmin.Figures(t).Is(t, "countersign_heartbeats_total", doc{"accepted": 251, "duplicate": 49, "refused": 350})
	if now := w.recorded(t); now != n {
		t.Errorf("%d records were made", now-n)
	}
}

// pounder is an instance that sends heartbeats without a pause until the server is gone.
type pounder struct {
	instance string
	last     int // the last acknowledged sequence
	unheard  doc // the heartbeat without an answer
}

// pound lets instances of an agent send heartbeats without a pause. wait returns when the server is gone.
func (w *world) pound(t *testing.T, id string, instances int, acknowledged *atomic.Int64) (pounders []*pounder, wait func()) {
	t.Helper()
	_, token := w.token(t, doc{"roles": []string{"OPERATOR"}})
	client := &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: instances}}
	send := func(b doc) error {
		text, err := encoding.Marshal(b)
		if err != nil {
			return err
		}
		req, err := http.NewRequest("POST", w.URL+harness.Prefix+"/agents/"+id+"/heartbeat", bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token.At("token").Text())
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 {
			return fmt.Errorf("heartbeat: %s", res.Status)
		}
		return nil
	}
	var group sync.WaitGroup
	for i := range instances {
		p := &pounder{instance: fmt.Sprint("instance-", i)}
		pounders = append(pounders, p)
		group.Go(func() {
			for {
				p.unheard = beat(p.instance, p.last+1, "IDLE")
				if send(p.unheard) != nil {
					return
				}
				p.last++
				acknowledged.Add(1)
			}
		})
	}
	return pounders, group.Wait
}

func TestASequenceAcknowledgedBeforeACrashIsRefusedAfterIt(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	var acknowledged atomic.Int64
	pounders, wait := w.pound(t, id, 24, &acknowledged)
	harness.Until(t, "a hundred heartbeats", func() bool { return acknowledged.Load() >= 100 })
	w.Kill() // with other heartbeats in flight
	wait()
	w.Restart()
	together(len(pounders), func(i int) string {
		p := pounders[i]
		for _, used := range []int{p.last, p.last - 1, 0} {
			w.beats(id, beat(p.instance, used, "BUSY")).Refused(t, "sequence_conflict")
		}
		w.beats(id, p.unheard).OK(t).Is(t, "acknowledged", true) // acknowledged whether it was stored or not
		w.beats(id, harness.With(p.unheard, "state", "BUSY")).Refused(t, "sequence_conflict")
		w.beats(id, beat(p.instance, p.last+2, "BUSY")).OK(t).Is(t, "duplicate", false)
		return ""
	})
	w.agent(t, id).Is(t, "instanceCount", len(pounders)).Is(t, "liveness", "BUSY")
}

func TestASequenceAcknowledgedBeforeARestartIsRefusedAfterIt(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	last := beat("i", 7, "ERROR")
	received := w.beats(id, last).OK(t).At("receivedAt")
	w.Stop()
	w.Restart()
	w.agent(t, id).Is(t, "liveness", "ERROR").Is(t, "lastHeartbeatAt", received)
	w.beats(id, last).OK(t).Is(t, "duplicate", true).Is(t, "receivedAt", received)
	w.beats(id, beat("i", 7, "IDLE")).Refused(t, "sequence_conflict", "7")
	w.beats(id, beat("i", 6, "IDLE")).Refused(t, "sequence_conflict", "7")
	w.beats(id, beat("i", 8, "IDLE")).OK(t).Is(t, "duplicate", false).Is(t, "liveness", "ONLINE")
}
