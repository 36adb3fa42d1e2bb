package demo

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/rules/access"
)

// place is the directory of a demo: the store, the shop's log, the service's log, and
// demo.json with what a later demo needs to continue.
type place struct {
	dir       string
	temporary bool
	kept      keptState
}

// keptState is the content of demo.json. It has secrets, so only its owner may read it.
type keptState struct {
	Secret      string    `json:"secret"`     // secret of the HMAC signature
	AnswerSeed  string    `json:"answerSeed"` // of the key by which the shop signs its answers
	AdminToken  string    `json:"adminToken"`
	ShopAddress string    `json:"shopAddress"` // the registered origin of the shop
	Operator    *identity `json:"operator,omitempty"`
	Reviewer    *identity `json:"reviewer,omitempty"`
	Agents      *identity `json:"agents,omitempty"` // a token for the agents' processes
}

// identity is a token, and the user behind it.
type identity struct {
	Email   string `json:"email,omitempty"`
	TokenID string `json:"tokenId"`
	Token   string `json:"token"`
}

// The names of files in a demo's directory.
const (
	KeptFile     = "demo.json"
	StoreDir     = "store"
	ShopLog      = "shop.log"
	ServiceLog   = "service.log"
	reviewerFile = "reviewer.header"
)

// enterPlace opens a demo's directory, or makes a temporary one for "", and creates the state
// of a first demo.
func enterPlace(dir string) (*place, error) {
	p := &place{dir: dir, temporary: dir == ""}
	var err error
	if p.temporary {
		p.dir, err = os.MkdirTemp("", "countersign-demo-")
	} else if p.dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(p.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("%s: %w; take another directory", p.file(KeptFile), err)
	}
	return p, nil
}

func (p *place) file(name string) string { return filepath.Join(p.dir, name) }

func (p *place) read() error {
	data, err := os.ReadFile(p.file(KeptFile))
	if errors.Is(err, fs.ErrNotExist) {
		var token [32]byte
		var seed [ed25519.SeedSize]byte
		_, _ = rand.Read(token[:]) // crypto/rand never returns an error
		_, _ = rand.Read(seed[:])
		p.kept = keptState{Secret: rand.Text() + rand.Text(), AnswerSeed: hex.EncodeToString(seed[:]), AdminToken: access.FormatToken(token), ShopAddress: freeAddress()}
		return p.write()
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &p.kept)
}

// write replaces the file atomically, so that a killed demo leaves the old one or the new one.
func (p *place) write() error {
	data, err := json.MarshalIndent(p.kept, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Create(p.file(KeptFile), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// leave removes the directory if it is temporary.
func (p *place) leave() error {
	if !p.temporary {
		return nil
	}
	return os.RemoveAll(p.dir)
}

// freeAddress finds a loopback port for the shop. The shop's origin is registered, so a later
// demo needs the same port: freeAddress chooses it below the range of ephemeral ports.
func freeAddress() string {
	const lowest, ports, tries = 10000, 22000, 50
	for range tries {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+mathrand.IntN(ports)))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	return "127.0.0.1:" + strconv.Itoa(lowest) // in use too: starting the shop reports it
}
