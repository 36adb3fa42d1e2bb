package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

var (
	some      = []change{set("old", 100), set("older", 3000), set("big", 20000)}
	everyKind = reads | writes | truncates | syncs | opens | deletes | maps
)

// scenarios are what TestEveryFault tries. ready() ends what each only prepares.
var scenarios = []scenario{
	{
		name: "a store is made", has: everyKind, settings: plain,
		make: func(*testing.T, string, []change) {},
		play: func(p *play) {
			p.ready()
			p.openTwice()
			p.update(set("new", 100))
		},
	},
	{
		name: "a store is opened", has: everyKind, settings: plain, before: some,
		play: func(p *play) {
			p.ready()
			p.openTwice()
		},
	},
	{
		name: "a store is opened after a kill", has: reads | opens | maps, settings: plain,
		before: repeated(40, set("again", 5000)), make: killedStore,
		play: func(p *play) {
			p.ready()
			p.openTwice()
		},
	},
	{
		name: "the first schema is brought up to date", has: everyKind, settings: plain,
		before: some, make: firstSchema,
		play: func(p *play) {
			p.ready()
			p.openTwice()
			p.update(set("new", 100))
		},
	},
	{
		name: "a document is put", has: reads | writes | syncs, settings: plain, before: some,
		play: func(p *play) {
			p.open()
			p.ready()
			p.update(set("new", 100))
			p.update(set("new", 3000))
		},
	},
	{
		name: "a mebibyte is put", has: reads | writes | syncs, settings: plain, before: some, long: true,
		play: func(p *play) {
			p.open()
			p.ready()
			p.update(set("old", 1<<20))
			p.update(set("new", 100))
		},
	},
	{
		name: "sixteen Updates share a commit", has: reads | writes | syncs, settings: plain, before: some,
		play: func(p *play) {
			p.open()
			p.ready()
			p.batch(sets(16)...)
			p.update(set("new", 100))
		},
	},
	{
		name: "some of a batch fail", has: reads | writes | syncs, settings: plain, before: some,
		play: func(p *play) {
			p.open()
			p.ready()
			p.batch(failing(set("first", 10)), set("1", 10), conflicting("old"), set("2", 3000),
				failing(set("none", 4000)), swallowing(conflicting("older")), set("3", 10))
			p.update(set("new", 100))
		},
	},
	{
		name: "documents are deleted", has: reads | writes | syncs, settings: plain, before: append(sets(30), some...),
		play: func(p *play) {
			p.open()
			p.ready()
			p.update(remove("big", "old", "missing"))
			p.update(set("new", 9000))
			p.update(remove("1", "2", "3"))
		},
	},
	{
		name: "a View goes on beside writes", has: reads | writes | syncs, settings: withCheckpoints(1000, 2),
		tables: []*store.Table{store.Steps}, before: steps(1, 40),
		play: func(p *play) {
			p.open()
			p.ready()
			p.view(func(look func()) {
				p.update(together(steps(41, 20)...))
				look()
				p.update(together(steps(61, 20)...))
			})
		},
	},
	{
		name: "a commit brings a checkpoint", has: reads | writes | truncates | syncs, settings: withCheckpoints(6, 1), before: some,
		play: func(p *play) {
			p.open()
			p.ready()
			for range 4 {
				p.update(together(set("old", 5000), set("older", 5000)))
			}
		},
	},
	{
		name: "a store is closed", has: reads | writes | truncates | syncs | deletes, settings: plain, before: some,
		play: func(p *play) {
			p.open()
			p.fill(together(sets(20)...))
			p.fill(set("older", 9000))
			p.ready()
			p.close()
		},
	},
	{
		name: "a change is audited", has: reads | writes | syncs, settings: plain,
		tables: []*store.Table{store.Audit, store.AuditHeads}, before: audits(12), law: changeAndRecordAreOne,
		play: func(p *play) {
			p.open()
			p.ready()
			p.update(audited("model-1", "models.change"))
			p.batch(audited("model-3", "models.create"), audited("model-2", "models.change"), failing(audited("model-0", "models.change")))
			p.update(audited("model-0", "models.delete"))
		},
	},
	{
		name: "a run starts and takes a step", has: reads | writes | syncs, settings: plain,
		tables: runTables, before: []change{starts("run-1"), waits("run-1"), moves("run-1"), starts("run-2")}, law: runsAreWhole,
		play: func(p *play) {
			p.open()
			p.ready()
			p.update(starts("run-3"))
			p.update(waits("run-3"))
			p.batch(moves("run-2"), starts("run-4"), moves("run-3"))
		},
	},
	{
		name: "a commit makes the log's index grow", has: reads | writes | syncs | maps, settings: withCheckpoints(9000, 1),
		before: some, only: maps, long: true,
		play: func(p *play) {
			p.open()
			p.fill(together(mebibytes(15)...)) // its pages fill the first part of the index but for some
			p.fill(remove(ids(15)...))
			p.ready()
			p.update(set("big", 1<<20))
			p.update(set("old", 10))
		},
	},
}

// openTwice opens the store and, where the fault let it not, once more.
func (p *play) openTwice() {
	p.open()
	if p.store == nil {
		p.open()
	}
}

// set writes a document of a size over whatever version there is, and unlike it.
func set(id string, size int) change {
	return func(tx store.Tx) error {
		row, err := tx.Get(store.Tenants, "acme", id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		doc := fmt.Appendf(nil, `{"version":%d,"fill":"%s"}`, row.Version+1, strings.Repeat(string('a'+rune(row.Version%26)), size))
		return tx.Put(store.Tenants, "acme", store.Row{ID: id, Doc: doc}, row.Version)
	}
}

func mebibytes(n int) (changes []change) {
	for _, id := range ids(n) {
		changes = append(changes, set(id, 1<<20))
	}
	return changes
}

func ids(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(i))
	}
	return ids
}

// sets are n changes of a document each.
func sets(n int) (changes []change) {
	for i, id := range ids(n) {
		changes = append(changes, set(id, 100*i))
	}
	return changes
}

func repeated(n int, c change) (changes []change) {
	for range n {
		changes = append(changes, c)
	}
	return changes
}

// together makes one change of several.
func together(changes ...change) change {
	return func(tx store.Tx) error {
		for _, c := range changes {
			if err := c(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

func remove(ids ...string) change {
	return func(tx store.Tx) error {
		for _, id := range ids {
			if err := tx.Delete(store.Tenants, "acme", id); err != nil {
				return err
			}
		}
		return nil
	}
}

// conflicting takes for new what is there.
func conflicting(id string) change {
	return func(tx store.Tx) error {
		return tx.Put(store.Tenants, "acme", store.Row{ID: id, Doc: []byte("{}")}, 0)
	}
}

// failing does a change and regrets it.
func failing(c change) change {
	return func(tx store.Tx) error {
		if err := c(tx); err != nil {
			return err
		}
		return errors.New("a failure of its own")
	}
}

// swallowing goes on after a conflict.
func swallowing(c change) change {
	return func(tx store.Tx) error {
		if err := c(tx); !errors.Is(err, store.ErrConflict) {
			return err
		}
		return set("swallowed", 50)(tx)
	}
}

// steps are n changes of a step each, of four runs in turn.
func steps(from, n int) (changes []change) {
	for i := from; i < from+n; i++ {
		changes = append(changes, func(tx store.Tx) error {
			row := store.Row{ID: fmt.Sprintf("%03d", i), Keys: []any{fmt.Sprint("run-", i%4), int64(i), ""}, Doc: fmt.Appendf(nil, `{"fill":%q}`, strings.Repeat("x", 300))}
			return tx.Put(store.Steps, "acme", row, 0)
		})
	}
	return changes
}

// view looks at steps several times in one View, while other things are done: it
// must always see the same.
func (p *play) view(during func(look func())) {
	p.t.Helper()
	if p.store == nil {
		return
	}
	err := p.store.View(context.Background(), func(tx store.Tx) error {
		before, err := listed(tx)
		look := func() {
			if err == nil {
				p.wantLook(tx, before)
			}
		}
		during(look)
		look()
		return err
	})
	if err != nil && !p.mayFailToRead(err) {
		p.fatalf("View: %v", err)
	}
}

func (p *play) wantLook(tx store.Tx, want string) {
	p.t.Helper()
	got, err := listed(tx)
	if err == nil {
		p.wantSame(got, want)
	} else if !p.mayFailToRead(err) {
		p.fatalf("in a View: %v", err)
	}
}

// listed is what a View shows of the steps, in every way of asking.
func listed(tx store.Tx) (string, error) {
	rows, err := tx.List(store.Steps, "acme", store.Query{Where: []store.Filter{store.Equal("run", "run-1")}, Order: []store.Order{{Column: "idx", Descending: true}}})
	if err != nil {
		return "", err
	}
	count, err := tx.Count(store.Steps, "acme", store.Query{})
	if err != nil {
		return "", err
	}
	runs, err := tx.Distinct(store.Steps, "acme", "run")
	return fmt.Sprint(len(rows), rows, count, runs), err
}
