package receipt

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/edition"
)

// Facts are the contents of a receipt.
type Facts struct {
	Tenant   string
	Version  string // of the service
	IssuedAt time.Time
	Masked   bool            // without sensitive values, for a recipient who must not see them
	Run      countersign.Run // ended, with its steps and the snapshot of its plan
	// Approvals are all approvals of the run, oldest first.
	Approvals []countersign.Approval
	Log       Log
}

// Log is the part of the tenant's audit log about the run.
type Log struct {
	Size    int64
	Root    string // of the tree of Size records, lowercase hex
	Records []Record
	LeftOut int // records about the run that are not in the receipt

	Cosigned *Cosigned // nil: no witness has cosigned a head that contains them
}

// Record is one record of the log: the exact text that its leaf hash covers, and its
// inclusion proof.
type Record struct {
	Text  string   `json:"text"`
	Proof []string `json:"proof"`
}

type statement struct {
	IssuedAt time.Time `json:"issuedAt"`
	Masked   bool      `json:"masked"`
	Redacted bool      `json:"redacted,omitempty"` // what the run held was removed
	RunID    string    `json:"runId"`
	Tenant   string    `json:"tenantId"`
	Version  string    `json:"version"`
}

type auditSection struct {
	Cosigned *Cosigned `json:"cosigned,omitempty"`
	Head     head      `json:"head"`
	LeftOut  int       `json:"leftOut"`
	Records  []Record  `json:"records"`
}

// head is a signed tree head. It can be kept apart from the receipt and compared with
// later states of the log.
type head struct {
	At        string `json:"at"`
	Root      string `json:"root"`
	Signature string `json:"signature"`
	Size      int64  `json:"size"`
	Tenant    string `json:"tenantId"`
}

func (h head) signed() []byte { return headText(h.Tenant, strconv.FormatInt(h.Size, 10), h.Root, h.At) }

// headText is the signed text of a tree head.
func headText(tenant, size, root, at string) []byte {
	return []byte("countersign-tree-head/1\n" + tenant + "\n" + size + "\n" + root + "\n" + at + "\n")
}

// Build creates and signs the receipt of an ended run. It is deterministic.
func Build(f Facts, key ed25519.PrivateKey) ([]byte, error) {
	h := head{Tenant: f.Tenant, Size: f.Log.Size, Root: f.Log.Root, At: f.IssuedAt.Format(time.RFC3339Nano)}
	h.Signature = hex.EncodeToString(ed25519.Sign(key, h.signed()))
	r := f.Run
	r.PlanSnapshot = nil
	sections := map[string]any{
		Approvals: notNil(f.Approvals),
		Audit:     auditSection{Cosigned: f.Log.Cosigned, Head: h, LeftOut: f.Log.LeftOut, Records: notNil(f.Log.Records)},
		Plan:      f.Run.PlanSnapshot,
		Requests:  requestsOf(f),
		Run:       r,
		Statement: statement{f.IssuedAt, f.Masked || r.Redacted != nil, r.Redacted != nil, r.ID, f.Tenant, f.Version},
	}
	texts := make(map[string][]byte, len(sections))
	for name, section := range sections {
		v, err := countersign.ValueOf(section)
		if err != nil {
			return nil, err
		}
		texts[name] = v.Canonical()
	}
	return Seal(f.format(), texts, key), nil
}

// format is the second for a receipt that holds anything of the third edition, so that a
// verifier of before doesn't judge what it can't understand.
func (f Facts) format() string {
	if f.Log.Cosigned != nil || edition.Has(edition.Third, f.Run) || edition.Has(edition.Third, f.Approvals) || slices.ContainsFunc(f.Log.Records, ofThird) {
		return Format2
	}
	return Format
}

// ofThird reports a record of the log that holds anything of the third edition.
func ofThird(r Record) bool {
	var read countersign.AuditRecord
	return json.Unmarshal([]byte(r.Text), &read) == nil && edition.Has(edition.Third, read)
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Seal writes the sections as one receipt and signs it.
func Seal(format string, sections map[string][]byte, key ed25519.PrivateKey) []byte {
	contents := contentsOf(format, sections)
	size := len(contents) + 1024
	for _, text := range sections {
		size += len(text)
	}
	b := make([]byte, 0, size)
	b = append(append(b, opening...), contents...)
	b = append(b, beforeSections...)
	for i, name := range Sections {
		b = append(append(b, before(i, name)...), sections[name]...)
	}
	b = append(b, beforeSignature...)
	b = append(b, signatureOf(format, contents, key)...)
	return append(b, '}')
}

// The frame around the parts.
const (
	opening         = `{"contents":`
	beforeSections  = `,"sections":{`
	beforeSignature = `},"signature":`
)

// before is the text in front of the i-th section.
func before(i int, name string) string {
	text := `"` + name + `":`
	if i > 0 {
		return "," + text
	}
	return text
}

func contentsOf(format string, sections map[string][]byte) []byte {
	entries := make([]string, len(Sections))
	for i, name := range Sections {
		entries[i] = `{"bytes":` + strconv.Itoa(len(sections[name])) + `,"name":"` + name + `","sha256":"` + countersign.SHA256Hex(sections[name]) + `"}`
	}
	return []byte(`{"format":"` + format + `","sections":[` + strings.Join(entries, ",") + `]}`)
}

func signatureOf(format string, contents []byte, key ed25519.PrivateKey) string {
	public := key.Public().(ed25519.PublicKey)
	return `{"algorithm":"` + Algorithm + `","contentsSha256":"` + countersign.SHA256Hex(contents) + `","keyId":"` + KeyID(public) +
		`","publicKey":"` + KeyText(public) + `","value":"` + hex.EncodeToString(ed25519.Sign(key, signed(format, contents))) + `"}`
}
