package pack_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
)

func row(seq, at int64, actor, action, subject, doc string) store.Row {
	return store.Row{ID: pack.ID(seq), Version: 1, Keys: []any{seq, at, actor, action, subject}, Doc: []byte(doc)}
}

// drawn are rows of all kinds that fit into one pack.
func drawn(r *rand.Rand, n int) []store.Row {
	texts := []string{"", "system", "user:ada", "é\x00\xff", strings.Repeat("long", 100)}
	times := []int64{0, 1, -1, math.MinInt64, math.MaxInt64, 1_700_000_000_000_000}
	first := r.Int64N(1000)
	var rows []store.Row
	for i := range n {
		text := func() string { return texts[r.IntN(len(texts))] }
		rows = append(rows, row(first+int64(i), times[r.IntN(len(times))], text(), text(), fmt.Sprint("run/", r.IntN(200)), strings.Repeat(text(), r.IntN(3))))
	}
	return rows
}

func TestRowsComeOutAsTheyWentIn(t *testing.T) {
	r, p := rand.New(rand.NewPCG(1, 2)), new(pack.Packer)
	for n := 1; n <= pack.Most; n++ {
		rows := drawn(r, n)
		content, sum := p.Pack("acme", rows)
		opened, err := pack.Open("acme", rows[0].Keys[0].(int64), n, content, sum)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, opened.Rows()); diff != "" || opened.Len() != n || opened.First() != rows[0].Keys[0] {
			t.Fatalf("%d rows: %s", n, diff)
		}
		if diff := cmp.Diff(pack.Postings(rows), opened.Postings()); diff != "" {
			t.Fatalf("postings of %d rows: %s", n, diff)
		}
		for _, posting := range opened.Postings() {
			back, err := pack.ParsePlaces(posting.Places.Places())
			if err != nil || back != posting.Places || len(posting.Places.Places()) != posting.Places.Len() {
				t.Fatalf("places %v, read as %v, %v", posting.Places, back, err)
			}
			for i := range n {
				has := rows[i].Keys[2+posting.Column] == any(posting.Value)
				if opened.Has(i, posting.Column, []string{"-", posting.Value}) != has || (posting.Places.And(pack.First(i+1)).Len() > posting.Places.And(pack.First(i)).Len()) != has {
					t.Fatalf("record %d of %+v", i, posting)
				}
			}
		}
	}
}

// TestOnlyRecordsAsTheLogWritesThemFit: the others can't be told by their place in a pack.
func TestOnlyRecordsAsTheLogWritesThemFit(t *testing.T) {
	good := func() store.Row { return row(7, 8, "a", "b", "c", "{}") }
	if !pack.Fits(good()) {
		t.Error("a record doesn't fit")
	}
	for name, change := range map[string]func(*store.Row){
		"another version": func(r *store.Row) { r.Version = 2 }, "another number": func(r *store.Row) { r.Keys[0] = int64(8) },
		"a longer id": func(r *store.Row) { r.ID += "0" }, "no number": func(r *store.Row) { r.ID = "000000000000000x" }, "a sign": func(r *store.Row) { r.ID, r.Keys[0] = "-000000000000007", int64(-7) },
		"a large text": func(r *store.Row) { r.Doc = make([]byte, 17<<10) }, "a large subject": func(r *store.Row) { r.Keys[4] = strings.Repeat("x", 17<<10) },
	} {
		r := good()
		if change(&r); pack.Fits(r) {
			t.Errorf("%s fits", name)
		}
	}
}

func TestIDsOrderAsNumbers(t *testing.T) {
	for _, seq := range []int64{0, 9, 10, 123_456_789, pack.MostSeq} {
		if back, ok := pack.Seq(pack.ID(seq)); !ok || back != seq || pack.ID(seq) != fmt.Sprintf("%016d", seq) {
			t.Errorf("%d is %s and then %d", seq, pack.ID(seq), back)
		}
	}
}

// TestAPackIsOfItsPlace: at another place, of another tenant or with another sum it is damaged.
func TestAPackIsOfItsPlace(t *testing.T) {
	rows := drawn(rand.New(rand.NewPCG(1, 2)), 20)
	first := rows[0].Keys[0].(int64)
	content, sum := new(pack.Packer).Pack("acme", rows)
	for name, open := range map[string]func() (*pack.Pack, error){
		"another tenant":           func() (*pack.Pack, error) { return pack.Open("acme2", first, 20, content, sum) },
		"another number":           func() (*pack.Pack, error) { return pack.Open("acme", first+1, 20, content, sum) },
		"fewer records":            func() (*pack.Pack, error) { return pack.Open("acme", first, 19, content, sum) },
		"more records":             func() (*pack.Pack, error) { return pack.Open("acme", first, 21, content, sum) },
		"another sum":              func() (*pack.Pack, error) { return pack.Open("acme", first, 20, content, sum^1) },
		"a sum that isn't 32 bits": func() (*pack.Pack, error) { return pack.Open("acme", first, 20, content, sum|1<<40) },
	} {
		p, err := open()
		if p != nil || !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasSuffix(name, "sum") && !strings.Contains(err.Error(), "it doesn't fit its sum") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlacesOfAPackAscendAndAreInIt: other stored places are refused.
func TestPlacesOfAPackAscendAndAreInIt(t *testing.T) {
	for _, places := range [][]byte{{}, {1, 1}, {2, 1}, {pack.Most}, {0, 255}} {
		if s, err := pack.ParsePlaces(places); err == nil || err.Error() != "its postings are not places in a pack" {
			t.Errorf("%v are %v, %v", places, s, err)
		}
	}
}

// TestAHostilePackTakesLittleMemory: whatever size it says, or doesn't say, that it has.
func TestAHostilePackTakesLittleMemory(t *testing.T) {
	zeros := make([]byte, 256<<20)
	frame := func(options ...zstd.EOption) []byte {
		e, err := zstd.NewWriter(nil, options...)
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll(zeros, nil)
	}
	said := frame(zstd.WithSingleSegment(true))
	small := frame(zstd.WithSingleSegment(true))
	small = append(small[:5:5], 0, 1, 0, 0) // says that it is small
	small = append(small, said[9:]...)
	for name, content := range map[string][]byte{"its size": said, "no size": frame(zstd.WithWindowSize(1 << 20)), "a small size": small, "nothing": {}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := pack.Open("acme", 0, 1, content, 0)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, store.ErrDamaged) || taken > 4<<20 {
			t.Errorf("%s: %v, %d bytes", name, err, taken)
		}
	}
}

// FuzzOpen: what is no pack is refused as damaged.
func FuzzOpen(f *testing.F) {
	for n := 1; n < 40; n += 13 {
		rows := drawn(rand.New(rand.NewPCG(1, 2)), n)
		content, sum := new(pack.Packer).Pack("acme", rows)
		f.Add(content, rows[0].Keys[0].(int64), n, sum)
	}
	f.Fuzz(func(t *testing.T, content []byte, first int64, n int, sum int64) {
		p, err := pack.Open("acme", first, n, content, sum)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if len(p.Rows()) != n {
			t.Errorf("%d records of %d", len(p.Rows()), n)
		}
	})
}
