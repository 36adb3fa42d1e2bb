package witness

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// history is the whole log of somebody who may also tell another story.
type history struct {
	signer checkpoint.Signer
	hashes []tlog.Hash
	size   int64
}

func newHistory(origin string, size int, story string) *history {
	h := &history{signer: checkpoint.NewSigner(origin, bytes.Repeat([]byte{7}, seedBytes))}
	for range size {
		h.add(story)
	}
	return h
}

func (h *history) add(story string) {
	more, err := tlog.StoredHashes(h.size, fmt.Append(nil, story, h.size), h.reader())
	if err != nil {
		panic(err)
	}
	h.hashes, h.size = append(h.hashes, more...), h.size+1
}

func (h *history) reader() tlog.HashReaderFunc {
	return func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			out[i] = h.hashes[at]
		}
		return out, nil
	}
}

func (h *history) head(size int64) checkpoint.Head {
	hash, err := tlog.TreeHash(size, h.reader())
	if err != nil {
		panic(err)
	}
	return checkpoint.Head{Origin: h.signer.Name(), Size: size, Hash: hash}
}

// from is the submission of a size to somebody who knows an earlier one.
func (h *history) from(old, size int64) checkpoint.Submission {
	s := checkpoint.Submission{Old: old}
	if old > 0 && old < size {
		proof, err := tlog.ProveTree(size, old, h.reader())
		if err != nil {
			panic(err)
		}
		s.Proof = proof
	}
	signed, err := checkpoint.Sign(h.head(size), h.signer)
	if err != nil {
		panic(err)
	}
	s.Checkpoint = signed
	return s
}

// started is a witness's HTTP server over a directory.
func started(t *testing.T, dir string, logs ...checkpoint.Key) (*Witness, func(submission string) (status int, body string, kind string)) {
	t.Helper()
	w, err := Open(dir, "", logs, func() time.Time { return time.Unix(1_800_000_000, 0) })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(Handler(w, slog.New(slog.DiscardHandler)))
	t.Cleanup(func() { server.Close(); _ = w.Close() })
	return w, func(submission string) (int, string, string) {
		t.Helper()
		resp, err := http.Post(server.URL+"/add-checkpoint", "text/plain", strings.NewReader(submission))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body), resp.Header.Get("Content-Type")
	}
}

// TestAWitnessCosignsWhatGoesOnFromTheLastAndNothingElse, with the protocol's statuses.
func TestAWitnessCosignsWhatGoesOnFromTheLastAndNothingElse(t *testing.T) {
	log, fork := newHistory("example.com/log", 20, "true"), newHistory("example.com/log", 20, "false")
	stranger := newHistory("example.com/stranger", 20, "true")
	w, submit := started(t, t.TempDir(), log.signer.Key)
	key, err := checkpoint.ParseWitnessKey(w.VKey())
	if err != nil {
		t.Fatal(err)
	}
	forged := log.from(0, 5)
	forged.Checkpoint = strings.Replace(forged.Checkpoint, "\n5\n", "\n6\n", 1)
	wrong := log.from(5, 9)
	wrong.Proof[0] = tlog.Hash{}
	long := log.from(5, 9)
	long.Proof = append(long.Proof, tlog.Hash{})
	begun := log.from(0, 5)
	begun.Proof = []tlog.Hash{{}}
	for _, step := range []struct {
		what, submission string
		status           int
		body             string
	}{
		{"no submission", "hello", 400, ""},
		{"a body without end", strings.Repeat("old 1\n", 1<<15), 400, "the submission could not be read, or is too large\n"},
		{"another log", stranger.from(0, 5).Text(), 404, ""},
		{"a size that was changed", forged.Text(), 403, ""},
		{"a proof where there is nothing to prove", begun.Text(), 422, ""},
		{"from a size never seen", log.from(3, 5).Text(), 409, "0\n"},
		{"the first", log.from(0, 5).Text(), 200, "— "},
		{"the first again, as if it were", log.from(0, 5).Text(), 409, "5\n"},
		{"the same size again", log.from(5, 5).Text(), 200, "— "},
		{"the same size of another story", fork.from(5, 5).Text(), 409, "5\n"},
		{"another story that goes on", fork.from(5, 9).Text(), 422, ""},
		{"a wrong proof", wrong.Text(), 422, ""},
		{"a proof with more than it needs", long.Text(), 422, ""},
		{"the next", log.from(5, 9).Text(), 200, "— "},
		{"rewound", log.from(5, 6).Text(), 409, "9\n"},
		{"an old size above the new", checkpoint.Submission{Old: 9, Checkpoint: log.from(0, 6).Checkpoint}.Text(), 400, ""},
		{"the rest", log.from(9, 20).Text(), 200, "— "},
	} {
		status, body, kind := submit(step.submission)
		if status != step.status || !strings.HasPrefix(body, step.body) {
			t.Errorf("%s: %d %q, want %d %q", step.what, status, body, step.status, step.body)
		}
		if status == 409 && kind != "text/x.tlog.size" {
			t.Errorf("%s: a size of the type %q", step.what, kind)
		}
		if status != 200 {
			continue
		}
		s, err := checkpoint.ParseSubmission(step.submission)
		if err != nil {
			t.Fatal(err)
		}
		joined, err := checkpoint.Joined(s.Checkpoint, body, key)
		if found := checkpoint.Cosignatures(joined, []checkpoint.Key{key}); err != nil || len(found) != 1 || found[0].At.Unix() != 1_800_000_000 {
			t.Errorf("%s: %+v, %v", step.what, found, err)
		}
	}
}

// TestAWitnessThatBeginsAgainRemembers its key and what it cosigned, and is one process.
func TestAWitnessThatBeginsAgainRemembers(t *testing.T) {
	dir, log := t.TempDir(), newHistory("example.com/log", 9, "true")
	w, err := Open(dir, "w.example", []checkpoint.Key{log.signer.Key}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "", nil, time.Now); !told(err, "another process has it") {
		t.Errorf("a second process has it too: %v", err)
	}
	if _, err := w.Cosign(log.from(0, 7).Text()); err != nil {
		t.Fatal(err)
	}
	was := w.VKey()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "v.example", nil, time.Now); !told(err, "its name is w.example and stays so: the name is a part of its vkey") {
		t.Errorf("it takes another name, and so another vkey: %v", err)
	}
	if _, err := Open(t.TempDir(), "a b", nil, time.Now); !told(err, `the name "a b" has white space or a +, or is empty`) {
		t.Errorf("it takes a name that no vkey can have: %v", err)
	}
	again, submit := started(t, dir, log.signer.Key)
	if again.VKey() != was || !strings.HasPrefix(was, "w.example+") {
		t.Errorf("%s, then %s", was, again.VKey())
	}
	if status, body, _ := submit(log.from(0, 6).Text()); status != 409 || body != "7\n" {
		t.Errorf("%d %q", status, body)
	}
}

// TestAWitnessThatHasForgottenDoesNotServe: with a key and no ledger it would cosign a log that
// was rewound.
func TestAWitnessThatHasForgottenDoesNotServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ledgerFile), []byte(`{"name":"w","seed":"AAAA","logs":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "", nil, time.Now); !told(err, "its witness.json can't be read; a witness that has forgotten what it cosigned would help to rewind a log: restore the file as it was last, or begin a witness with a new key in an empty directory") {
		t.Errorf("%v", err)
	}
}

func told(err error, words string) bool { return err != nil && strings.Contains(err.Error(), words) }

// TestWhatCannotBeKeptIsNotCosigned: the disk takes nothing.
func TestWhatCannotBeKeptIsNotCosigned(t *testing.T) {
	dir, log := filepath.Join(t.TempDir(), "w"), newHistory("example.com/log", 9, "true")
	w, submit := started(t, dir, log.signer.Key)
	if err := os.Rename(dir, dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	if status, body, _ := submit(log.from(0, 7).Text()); status != 503 || body != "the checkpoint could not be kept; submit it again later\n" {
		t.Errorf("%d %q", status, body)
	}
	if err := os.Rename(dir+"-gone", dir); err != nil {
		t.Fatal(err)
	}
	if status, body, _ := submit(log.from(7, 9).Text()); status != 409 || body != "0\n" {
		t.Errorf("it remembers what it did not keep: %d %q", status, body)
	}
	if _, err := w.Cosign(log.from(0, 7).Text()); err != nil {
		t.Error(err)
	}
}

// TestOfStoriesToldAtOnceOneIsCosigned: many submissions of two stories, side by side.
func TestOfStoriesToldAtOnceOneIsCosigned(t *testing.T) {
	stories := []*history{newHistory("example.com/log", 30, "one"), newHistory("example.com/log", 30, "two")}
	w, submit := started(t, t.TempDir(), stories[0].signer.Key)
	var all sync.WaitGroup
	var mu sync.Mutex
	heads := map[int64]map[string]bool{} // of each size, the stories that were cosigned
	for n := range 8 {
		story := stories[n%2]
		all.Go(func() {
			old := int64(0)
			for size := int64(1); size <= 30; size++ {
				status, body, _ := submit(story.from(min(old, size), size).Text())
				switch status {
				case 200:
					old = size
					mu.Lock()
					if heads[size] == nil {
						heads[size] = map[string]bool{}
					}
					heads[size][story.head(size).Text()] = true
					mu.Unlock()
				case 409:
					old, _ = strconv.ParseInt(strings.TrimSpace(body), 10, 64)
				}
			}
		})
	}
	all.Wait()
	which := map[string]bool{}
	for size, found := range heads {
		for text := range found {
			which[strconv.FormatBool(text == stories[0].head(size).Text())] = true
		}
	}
	if len(which) != 1 {
		t.Errorf("both stories are cosigned by %s: %v", w.VKey(), heads)
	}
}
