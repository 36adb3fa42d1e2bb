package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/platform/atomicfile"
)

// Names of the files of a witness.
const (
	ledgerFile = "witness.json"
	lockFile   = "witness.lock"
)

var (
	errDamaged = errors.New("its " + ledgerFile + " can't be read; a witness that has forgotten what it cosigned would help to rewind a log: restore the file as it was last, or begin a witness with a new key in an empty directory")
	errInUse   = errors.New("another process has it")
)

// Witness cosigns the checkpoints of some logs. It is safe for concurrent use.
type Witness struct {
	dir  string
	lock *flock.Flock
	keys map[string][]checkpoint.Key
	now  func() time.Time

	mu     sync.Mutex // held from the look at the ledger until its next state is on the disk
	ledger *ledger
}

// Open opens the directory of a witness, which must be its own, and makes key and ledger in an
// empty one.
func Open(dir, name string, logs []checkpoint.Key, now func() time.Time) (*Witness, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	w := &Witness{dir: dir, lock: flock.New(filepath.Join(dir, lockFile)), keys: map[string][]checkpoint.Key{}, now: now}
	for _, k := range logs {
		w.keys[k.Name()] = append(w.keys[k.Name()], k)
	}
	if ours, err := w.lock.TryLock(); err != nil || !ours {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, errInUse), err)
	}
	if err := w.load(name); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), w.Close())
	}
	return w, nil
}

func (w *Witness) load(name string) error {
	data, err := os.ReadFile(filepath.Join(w.dir, ledgerFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return w.begin(name)
	case err != nil:
		return err
	}
	if w.ledger, err = parseLedger(data); err != nil {
		return err
	}
	if name != "" && name != w.ledger.Name {
		return fmt.Errorf("its name is %s and stays so: the name is a part of its vkey", w.ledger.Name)
	}
	return nil
}

// begin makes the key of a new witness.
func (w *Witness) begin(name string) error {
	seed := make([]byte, seedBytes)
	_, _ = rand.Read(seed)
	if name == "" {
		public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
		name = "countersign-witness/" + hex.EncodeToString(public[:8])
	}
	if !checkpoint.ValidName(name) {
		return fmt.Errorf("the name %q has white space or a +, or is empty", name)
	}
	return w.keep(&ledger{Name: name, Seed: seed, Logs: map[string]cosigned{}})
}

// keep makes a state of the ledger durable, and only then the one that is used.
func (w *Witness) keep(next *ledger) error {
	data, err := next.encode()
	if err != nil {
		return err
	}
	err = atomicfile.Create(filepath.Join(w.dir, ledgerFile), func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
	if err == nil {
		w.ledger = next
	}
	return err
}

// VKey is the key by which it cosigns, for those who check.
func (w *Witness) VKey() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return checkpoint.NewCosigner(w.ledger.Name, w.ledger.Seed, 0).Key.String()
}

// Cosign answers a submission: the line of its cosignature, which is given once the head is on the
// disk.
func (w *Witness) Cosign(submitted string) (line string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	head, err := w.ledger.judge(w.keys, submitted)
	if err != nil {
		return "", err
	}
	if err := w.keep(w.ledger.with(head)); err != nil {
		return "", err
	}
	return checkpoint.Cosign(checkpoint.Text(submitted), checkpoint.NewCosigner(w.ledger.Name, w.ledger.Seed, w.now().Unix()))
}

// Close gives the directory back.
func (w *Witness) Close() error { return w.lock.Close() }
