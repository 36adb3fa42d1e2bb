package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// productRecord is an audit record as the product's steps write them: four runs at once, of
// ten steps, two records a step.
func productRecord(seq int64) store.Row {
	run := fmt.Sprintf("run-%018d", seq/80*4+seq%4)
	unlike := make([]byte, 96)
	_, _ = rand.Read(unlike)
	action, at := []string{"step.send", "step.complete"}[seq/4%2], 1_795_544_399_000_000+400*seq
	doc := fmt.Sprintf(`{"seq":%d,"at":"2026-11-24T18:19:59.%06dZ","actor":"system","action":"%s","subject":"run/%s","step":"s%d","outcome":"done","before":"RUNNING","after":"COMPLETED","reason":"PASSED","digest":"afa47fb1dcda0e3d2b5fba509485f33472dd7442e38c9647d0865a12ff772324","requestId":"","salt":"%s","hash":"%s"}`,
		seq, at%1_000_000, action, run, seq/8%10, hex.EncodeToString(unlike[:32]), hex.EncodeToString(unlike[32:64]))
	return store.Row{ID: pack.ID(seq), Version: 1, Keys: []any{seq, at, "system", action, "run/" + run}, Doc: []byte(doc)}
}

// BenchmarkFlushOfAuditRecords writes 1,000 records in a transaction, in packs and as rows.
func BenchmarkFlushOfAuditRecords(b *testing.B) {
	for _, packs := range []bool{true, false} {
		b.Run(fmt.Sprintf("packed=%t", packs), func(b *testing.B) {
			s := mustOpen(b, emptyStore(b))
			seq, rows := int64(0), make([]store.Row, 1000)
			for b.Loop() {
				b.StopTimer()
				for i := range rows {
					rows[i] = productRecord(seq)
					seq++
				}
				b.StartTimer()
				if err := writeRecords(s, rows, packs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(seq), "us/record")
		})
	}
}

// writeRecords writes records as the flusher does, or each as a row.
func writeRecords(s *Store, rows []store.Row, packs bool) error {
	conn := s.flusher.conn
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	tx := conn.Begin(false)
	defer tx.End()
	p := packing{conn: conn, tx: tx, packer: &s.flusher.packer}
	for _, row := range rows {
		write := p.single
		if packs {
			write = p.write
		}
		if err := write(writebehind.Change{Table: store.Audit, Tenant: "acme", Row: row}); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	return conn.Exec("COMMIT")
}

// BenchmarkAuditOfAMillion reads pages of a log of a million records.
func BenchmarkAuditOfAMillion(b *testing.B) {
	s := mustOpen(b, emptyStore(b))
	const million = 1_000_000
	for seq := int64(0); seq < million; {
		rows := make([]store.Row, 10_000)
		for i := range rows {
			rows[i] = productRecord(seq)
			if seq%5000 == 0 {
				rows[i].Keys[2], rows[i].Keys[4] = "user:ada@example.com", "model/orders" // rare, each in a pack of its own
			}
			seq++
		}
		if err := writeRecords(s, rows, true); err != nil {
			b.Fatal(err)
		}
		if err := s.flusher.log.checkpoint(); err != nil {
			b.Fatal(err)
		}
	}
	newest := []store.Order{{Column: "seq", Descending: true}}
	since := store.Filter{Column: "at", Op: store.AtLeast, Values: []any{productRecord(million / 2).Keys[1]}}
	pages := map[string]store.Query{
		"newest":              {Order: []store.Order{{Column: "id", Descending: true}}},
		"deep":                {Order: []store.Order{{Column: "id", Descending: true}}, Offset: million / 2},
		"subject of a run":    {Order: newest, Where: []store.Filter{store.Equal("subject", "run/run-000000000000012345")}},
		"subject of 200":      {Order: newest, Where: []store.Filter{store.Equal("subject", "model/orders")}},
		"action":              {Order: newest, Where: []store.Filter{store.Equal("action", "step.send")}},
		"action, deep":        {Order: newest, Where: []store.Filter{store.Equal("action", "step.send")}, Offset: million / 4},
		"actor and action":    {Order: newest, Where: []store.Filter{store.Equal("actor", "system"), store.Equal("action", "step.complete")}},
		"actor since":         {Order: newest, Where: []store.Filter{store.Equal("actor", "system"), since}},
		"since":               {Order: []store.Order{{Column: "id", Descending: true}}, Where: []store.Filter{since}},
		"nobody":              {Order: newest, Where: []store.Filter{store.Equal("actor", "nobody")}},
		"two with no overlap": {Order: newest, Where: []store.Filter{store.Equal("actor", "user:ada@example.com"), store.Equal("subject", "run/run-000000000000012345")}},
	}
	bench := func(name string, ask func(tx store.Tx) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				conn, err := s.readers.borrow(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				snapshot, err := begin(conn) // without the counts that the layers remember
				if err == nil {
					err = ask(snapshot)
				}
				snapshot.Close()
				s.readers.idle <- conn
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
		})
	}
	for name, q := range pages {
		q.Limit = 20
		bench("page/"+name, func(tx store.Tx) error {
			_, err := tx.List(store.Audit, "acme", q)
			return err
		})
		bench("count/"+name, func(tx store.Tx) error {
			_, err := tx.Count(store.Audit, "acme", q)
			return err
		})
	}
	bench("distinct actors", func(tx store.Tx) error {
		_, err := tx.Distinct(store.Audit, "acme", "actor")
		return err
	})
	bench("get", func(tx store.Tx) error {
		_, err := tx.Get(store.Audit, "acme", pack.ID(777_777))
		return err
	})
	bench("verify 1000", func(tx store.Tx) error {
		_, err := tx.List(store.Audit, "acme", store.Query{Limit: 1000, Offset: 1, Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{pack.ID(500_000)}}}})
		return err
	})
}
