package registry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

// agents are the agents of the shop by id. Syncing a manifest gives the next
// agents, the same one for a conflict.
type agents map[string]countersign.Agent

func (r agents) sync(t *rapid.T, m *countersign.Manifest, now time.Time) (next agents, changed int, err error) {
	t.Helper()
	next = agents{}
	for id, a := range r {
		next[id] = a
	}
	for _, i := range m.Agents {
		id := registry.ID("acme-shop", i.ExternalAgentID)
		a, is, err := registry.Sync(r.stored(id), "acme-shop", i, now)
		if code := countersign.ErrorCode(err); code == countersign.CodeManifestConflict {
			return r, 0, err
		} else if code != "" || a.ID != id {
			t.Fatalf("%s: %v", a.ID, err)
		}
		if is {
			changed++
		}
		next[id] = a
	}
	return next, changed, nil
}

func (r agents) stored(id string) *countersign.Agent {
	if a, known := r[id]; known {
		return &a
	}
	return nil
}

// drawRegistry draws agents of every standing.
func drawRegistry(t *rapid.T, f registry.Facts) agents {
	r, _, _ := agents{}.sync(t, drawManifest(t, f), noon)
	for _, id := range sorted(r) {
		a := r[id]
		switch rapid.IntRange(0, 2).Draw(t, "standing") {
		case 1:
			a, _ = registry.Admit(a, noon)
		case 2:
			a, _ = registry.Suspend(a, noon)
		}
		r[id] = a
	}
	return r
}

func TestSyncIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		stored, m := drawRegistry(t, f), drawManifest(t, f)
		for i := range m.Agents {
			m.Agents[i].SourceRevision += 4 // newer than what is stored
		}
		once, _, err := stored.sync(t, m, noon)
		if err != nil {
			t.Fatalf("a newer manifest: %v", err)
		}
		twice, changed, err := once.sync(t, m, noon.Add(time.Hour))
		if diff := cmp.Diff(once, twice, exactly); diff != "" || changed > 0 || err != nil {
			t.Fatalf("%d changed, %v: %s", changed, err, diff)
		}
	})
}

func TestOrderOfAgentsIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		stored, m := drawRegistry(t, f), drawManifest(t, f)
		shuffled := manifest(rapid.Permutation(slices.Clone(m.Agents)).Draw(t, "shuffled")...)
		one, n, err := stored.sync(t, m, noon)
		other, k, otherErr := stored.sync(t, shuffled, noon)
		if diff := cmp.Diff(one, other, exactly); diff != "" || n != k || countersign.ErrorCode(err) != countersign.ErrorCode(otherErr) {
			t.Fatalf("%v, %v: %s", err, otherErr, diff)
		}
	})
}

// TestSpellingOfAManifestIsNothing: other spellings of numbers and texts, keys in
// another order, and empty objects named or not.
func TestSpellingOfAManifestIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		m := drawManifest(t, f)
		stored, _, _ := agents{}.sync(t, m, noon)
		again := manifest()
		for _, i := range m.Agents {
			again.Agents = append(again.Agents, respeltItem(t, i))
		}
		next, changed, err := stored.sync(t, again, noon.Add(time.Hour))
		if diff := cmp.Diff(stored, next, exactly); diff != "" || changed > 0 || err != nil {
			t.Fatalf("%d changed, %v: %s", changed, err, diff)
		}
	})
}

// TestAnyHistoryOfSyncsAdmissionsAndSuspensions agrees with the reference. No
// revision ever falls, a change gives PENDING and one revision more, and only an
// admission ends a suspension.
func TestAnyHistoryOfSyncsAdmissionsAndSuspensions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		stored, reference, said := agents{}, map[string]*entry{}, map[string]countersign.ManifestAgent{}
		now := noon
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			now = now.Add(time.Minute)
			before := stored
			if len(stored) > 0 && rapid.IntRange(0, 2).Draw(t, "event") == 0 {
				stored = move(t, stored, reference, now)
			} else {
				m := drawNext(t, f, said)
				stored = syncBoth(t, stored, reference, m, now)
				for _, i := range m.Agents {
					said[i.ExternalAgentID] = i
				}
			}
			if len(stored) != len(reference) {
				t.Fatalf("%d agents, want %d", len(stored), len(reference))
			}
			for id, a := range stored {
				if said := reference[id].disagrees(a); said != "" {
					t.Fatalf("%s is %s", a.ExternalAgentID, said)
				}
				if was, known := before[id]; known && a.Revision < was.Revision {
					t.Fatalf("the revision of %s fell from %d to %d", a.ExternalAgentID, was.Revision, a.Revision)
				}
			}
		}
	})
}

// drawNext draws a manifest in which most agents say again what they said last, or
// something new at a newer revision, and some anything at any revision.
func drawNext(t *rapid.T, f registry.Facts, said map[string]countersign.ManifestAgent) *countersign.Manifest {
	m := drawManifest(t, f)
	for i := range m.Agents {
		last, known := said[m.Agents[i].ExternalAgentID]
		switch how := rapid.IntRange(0, 9).Draw(t, "how"); {
		case known && how < 4:
			m.Agents[i] = respeltItem(t, last)
		case known && how < 8:
			m.Agents[i].SourceRevision = last.SourceRevision + 1
		}
	}
	return m
}

// syncBoth syncs a manifest into the agents and, all of it or nothing, into the
// reference.
func syncBoth(t *rapid.T, stored agents, reference map[string]*entry, m *countersign.Manifest, now time.Time) agents {
	next, changed, err := stored.sync(t, m, now)
	want, refused, entries := 0, false, map[string]entry{}
	for _, i := range m.Agents {
		id := registry.ID("acme-shop", i.ExternalAgentID)
		e, is, ok := reference[id].sync(i, now)
		if is {
			want++
			if was := reference[id]; was != nil && (next[id].Revision != was.revision+1 || next[id].Suspended != was.suspended) && err == nil {
				t.Fatalf("%s went from revision %d to %d, suspended %v", i.ExternalAgentID, was.revision, next[id].Revision, next[id].Suspended)
			}
		}
		entries[id], refused = e, refused || !ok
	}
	if refused {
		if countersign.ErrorCode(err) != countersign.CodeManifestConflict {
			t.Fatalf("no conflict but %v", err)
		}
		return next
	}
	if err != nil || changed != want {
		t.Fatalf("%d changed, %v, want %d", changed, err, want)
	}
	for id, e := range entries {
		reference[id] = &e
	}
	return next
}

// move admits or suspends an agent, here and in the reference.
func move(t *rapid.T, stored agents, reference map[string]*entry, now time.Time) agents {
	id := rapid.SampledFrom(sorted(stored)).Draw(t, "agent")
	next := agents{}
	for other, a := range stored {
		next[other] = a
	}
	var is, want bool
	if rapid.Bool().Draw(t, "admit") {
		next[id], is = registry.Admit(stored[id], now)
		want = reference[id].admit(now)
	} else {
		next[id], is = registry.Suspend(stored[id], now)
		want = reference[id].suspend(now)
	}
	if is != want {
		t.Fatalf("changed %v, want %v", is, want)
	}
	return next
}
