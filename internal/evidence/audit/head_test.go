package audit

import (
	"encoding/hex"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestAHeadIsReadAsAnyDocument: what parse takes, store.Decode reads as the same head, and
// parse takes every head that is written.
func TestAHeadIsReadAsAnyDocument(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for n := range 20_000 {
		h := drawHead(r)
		doc, err := countersign.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		spoiled := n%2 == 0
		if spoiled {
			doc = spoil(r, doc)
		}
		var quick, general head
		if !quick.parse(string(doc)) {
			if !spoiled && h.Size > 0 {
				t.Fatalf("not taken: %s", doc)
			}
			if !reflect.DeepEqual(quick, head{}) {
				t.Fatalf("changed by what it doesn't take: %s", doc)
			}
			continue
		}
		if taken++; store.Decode(doc, &general) != nil || !reflect.DeepEqual(quick, general) {
			t.Fatalf("%s\n%+v\n%+v", doc, quick, general)
		}
	}
	if taken < 9_000 {
		t.Errorf("%d heads were taken", taken)
	}
}

// TestAHeadOfWhichAPartIsMissingIsReadAsAnyDocument, whichever part that is.
func TestAHeadOfWhichAPartIsMissingIsReadAsAnyDocument(t *testing.T) {
	h := head{LastAt: time.Unix(1e9, 0).UTC()}
	h.Size, h.Roots = 3, []string{strings.Repeat("0", 64), strings.Repeat("a", 64)}
	doc, err := countersign.Marshal(&h)
	if err != nil {
		t.Fatal(err)
	}
	for from := range doc {
		for to := from; to <= len(doc); to++ {
			left := string(doc[:from]) + string(doc[to:])
			var quick, general head
			if quick.parse(left) && (store.Decode([]byte(left), &general) != nil || !reflect.DeepEqual(quick, general)) {
				t.Errorf("it takes %s", left)
			}
		}
	}
}

func drawHead(r *rand.Rand) head {
	var h head
	h.Size = r.Int64N(1 << r.IntN(40))
	h.LastAt = time.Unix(r.Int64N(4e9), r.Int64N(1e9)).In(time.FixedZone("", 3600*r.IntN(3)))
	for range bits.OnesCount64(uint64(h.Size)) {
		h.Roots = append(h.Roots, drawHash(r))
	}
	return h
}

func drawHash(r *rand.Rand) string {
	var of tlog.Hash
	for i := range of {
		of[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(of[:])
}

// spoil replaces a part of a document, mostly a small one, by another.
func spoil(r *rand.Rand, doc []byte) []byte {
	parts := []string{"", "0", "-", "+", " ", `"`, `\u0030`, ",", "[]", "null", "}", "Z", "é", `","`, drawHash(r)}
	from := r.IntN(len(doc))
	to := min(len(doc), from+r.IntN(3)*r.IntN(40))
	return []byte(string(doc[:from]) + strings.Repeat(parts[r.IntN(len(parts))], 1+r.IntN(2)) + string(doc[to:]))
}
