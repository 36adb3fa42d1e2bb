package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// tree is a record's path to the root of the log, as a drawing: a trunk of nodes, and beside each
// hop the sibling that is hashed with it, on its side.
type tree struct {
	Height int
	Leaf   string // of the record, the beginning
	Hops   []treeHop
}

type treeHop struct {
	N           int
	Left        bool // the sibling is hashed before the node
	Y, Up, At   int  // of the node below, of the one above, and of the sibling
	Sibling, To string
}

// Lengths of the drawing.
const (
	hopHeight = 25
	treeFoot  = 24
	boxHalf   = 4
	textDown  = 4
)

// treeOf follows a path: RFC 9162, 2.1.3.2.
func treeOf(leaf string, seq, size int64, path []string) tree {
	t := tree{Height: treeFoot + len(path)*hopHeight + treeFoot}
	sum := sha256.Sum256(append([]byte{0}, leaf...))
	node := sum[:]
	t.Leaf = hex.EncodeToString(node)[:12]
	fn, sn := seq, size-1
	for i, text := range path {
		sibling, err := hex.DecodeString(text)
		if err != nil || len(sibling) != sha256.Size {
			break
		}
		left := fn%2 == 1 || fn == sn
		if left {
			node = parentOf(sibling, node)
			for fn%2 == 0 && fn != 0 {
				fn, sn = fn/2, sn/2
			}
		} else {
			node = parentOf(node, sibling)
		}
		fn, sn = fn/2, sn/2
		y := t.Height - treeFoot - i*hopHeight
		hop := treeHop{N: i, Left: left, Y: y, Up: y - hopHeight, At: 84, Sibling: text[:12], To: hex.EncodeToString(node)[:12]}
		if left {
			hop.At = 20
		}
		t.Hops = append(t.Hops, hop)
	}
	return t
}

// Foot is where the record itself is drawn, and FootText where its hash stands.
func (t tree) Foot() int { return t.Height - treeFoot }

// FootText is beside Foot.
func (t tree) FootText() int { return t.Foot() + textDown }

// Box and BoxY are the corner of a sibling.
func (h treeHop) Box() int { return h.At - boxHalf }

// BoxY is beside Box.
func (h treeHop) BoxY() int { return h.Y - boxHalf }

// UpText is beside the node above.
func (h treeHop) UpText() int { return h.Up + textDown }

func parentOf(left, right []byte) []byte {
	sum := sha256.Sum256(slices.Concat([]byte{1}, left, right))
	return sum[:]
}

func sortedNames(m map[string]countersign.Value) []string { return slices.Sorted(maps.Keys(m)) }

// strip is an effect's time, to scale: from asking to sending, and below it from sending to its end.
type strip struct {
	Wait   string // of a person, "" for none
	Call   string
	API    int // of the time below, in percent
	Factor string
}

func stripOf(s *countersign.StepRun, a *countersign.Approval) *strip {
	if s.Attempt == 0 || s.Response == nil || s.StartedAt.IsZero() || s.CompletedAt.Before(s.StartedAt) {
		return nil
	}
	api := time.Duration(s.Response.DurationMs) * time.Millisecond
	whole := max(s.CompletedAt.Sub(s.StartedAt), api, time.Millisecond)
	out := &strip{Call: text.Took(max(1, api.Milliseconds())), API: max(2, min(100, int(100*api/whole)))}
	if a != nil && !a.DecidedAt.IsZero() && s.StartedAt.After(a.RequestedAt) {
		wait := s.StartedAt.Sub(a.RequestedAt)
		out.Wait = text.Took(wait.Milliseconds())
		if n := wait / whole; n > 1 {
			out.Factor = text.Plural(int(n), "time", "times") + " wider"
		}
	}
	return out
}
