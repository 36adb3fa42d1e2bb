package receipt

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// Verdict is the result of a verification.
type Verdict struct {
	OK      bool   `json:"ok"`
	Summary string `json:"summary,omitempty"` // of a valid receipt: the first line, which says what was left out
	Section string `json:"section,omitempty"` // the part that fails, "" when none does
	Problem string `json:"problem,omitempty"`

	// UnknownFormat is that of a receipt of a later release: nothing is said of whether it is
	// valid. Section is Contents, where the format stands.
	UnknownFormat string `json:"unknownFormat,omitempty"`

	// Of an unaltered receipt with a valid signature.
	PublicKey string `json:"publicKey,omitempty"`
	KeyID     string `json:"keyId,omitempty"`
	// Origin says that the signature is by the given key. Without a key, only integrity
	// is verified.
	Origin bool `json:"origin"`

	RunID    string `json:"runId,omitempty"`
	Status   string `json:"status,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Tenant   string `json:"tenantId,omitempty"`
	IssuedAt string `json:"issuedAt,omitempty"`
	Masked   bool   `json:"masked"`
	Redacted bool   `json:"redacted"` // what the run held was removed
	TreeSize int64  `json:"treeSize"`
	TreeRoot string `json:"treeRoot,omitempty"`
	Records  int    `json:"records"`
	LeftOut  int    `json:"leftOut"`
	Requests int    `json:"requests"`
	Hidden   int    `json:"hidden"` // of the requests, those whose digest could not be computed
	Approved int    `json:"approved"`
	Unlogged int    `json:"unlogged"` // decisions whose audit record masking omitted: only the signature attests them

	// Cosigned is the cosigned head that contains the receipt, nil if it has none. Its epoch stands
	// at the beginning of the summary: a log of another epoch is another log.
	Cosigned *Witnessed     `json:"cosigned,omitempty"`
	Answers  []SignedAnswer `json:"answers,omitempty"` // those that their receivers signed
	Unshown  int            `json:"unshown,omitempty"` // answers that are said to be signed, and whose signature isn't shown
}

func (v Verdict) failed(section, problem string) Verdict {
	if v.UnknownFormat != "" {
		section, problem = Contents, "it is of the format "+v.UnknownFormat+", which this release doesn't know; verify it with a later one"
	}
	return Verdict{Section: section, Problem: problem, UnknownFormat: v.UnknownFormat, PublicKey: v.PublicKey, KeyID: v.KeyID, Origin: v.Origin}
}

// Verify verifies a receipt in the steps of the specification and names the first part
// that fails. With a key, the receipt must be signed by it.
func Verify(file []byte, key ed25519.PublicKey) Verdict { return VerifyKnowing(file, key, Known{}) }

// Known is what a reader knows besides the installation's key, or asks for.
type Known struct {
	// AnswerKeys are keys by which receivers sign: where there are any, each signed answer must be
	// by one of them, and the log isn't asked for any.
	AnswerKeys []ed25519.PublicKey

	// Policy says which witnesses must have cosigned the log.
	Policy checkpoint.Policy
}

// VerifyKnowing is Verify by a reader who knows more.
func VerifyKnowing(file []byte, key ed25519.PublicKey, known Known) Verdict {
	whole, section, problem := open(file)
	v := Verdict{PublicKey: whole.publicKey, KeyID: whole.keyID}
	if section != "" {
		v.UnknownFormat = unknownFormat(file)
		return v.failed(section, problem)
	}
	if key != nil && KeyText(key) != whole.publicKey {
		return v.failed(Signature, "it is signed by the key "+whole.publicKey+", not by the one that was given")
	}
	v.Origin = key != nil
	for i, name := range Sections {
		if problem := uncanonical(whole.sections[i]); problem != "" {
			return v.failed(name, problem)
		}
	}
	return meaning(whole, known, v)
}

// opened is a receipt that is unaltered since it was signed.
type opened struct {
	format           string
	publicKey, keyID string
	sections         [][]byte
}

const hex32 = "[0-9a-f]{64}"

var (
	contentsForm  = regexp.MustCompile(`^\{"format":"(` + Format + `|` + Format2 + `)","sections":\[` + strings.Join(entryForms(), ",") + `\]\}`)
	laterForm     = regexp.MustCompile(`^\{"format":"(countersign-receipt/[1-9][0-9]{0,8})"`)
	signatureForm = regexp.MustCompile(`^\{"algorithm":"` + Algorithm + `","contentsSha256":"(` + hex32 + `)","keyId":"(` + hex32 + `)","publicKey":"(` + hex32 + `)","value":"([0-9a-f]{128})"\}$`)
)

func entryForms() []string {
	forms := make([]string, len(Sections))
	for i, name := range Sections {
		forms[i] = `\{"bytes":([1-9][0-9]{0,8}),"name":"` + name + `","sha256":"(` + hex32 + `)"\}`
	}
	return forms
}

// signatureLength is the fixed length of the signature section.
const signatureLength = len(`{"algorithm":"`+Algorithm+`","contentsSha256":"","keyId":"","publicKey":"","value":""}`) + 3*64 + 128

// unknownFormat is the format of a receipt that none of these verifiers can know.
func unknownFormat(file []byte) string {
	rest, ok := bytes.CutPrefix(file, []byte(opening))
	found := laterForm.FindSubmatch(rest[:min(len(rest), maxContents)])
	if !ok || found == nil || string(found[1]) == Format || string(found[1]) == Format2 {
		return ""
	}
	return string(found[1])
}

// maxContents bounds how much of a file is read before it is verified.
const maxContents = 4 << 10

// open splits a receipt by its contents section, without parsing JSON, so that an
// altered byte is attributed to the part it is in.
func open(file []byte) (whole opened, section, problem string) {
	if !bytes.HasPrefix(file, []byte(opening)) {
		return whole, Frame, "it does not begin as a receipt does"
	}
	rest := file[len(opening):]
	found := contentsForm.FindSubmatch(rest[:min(len(rest), maxContents)])
	if found == nil {
		return whole, Contents, "it is no table of contents of the format " + Format2
	}
	contents, format := found[0], string(found[1])
	end := len(file) - 1 - signatureLength
	if end < len(opening)+len(contents) || file[len(file)-1] != '}' {
		return whole, Frame, "it does not end as a receipt does"
	}
	if whole, section, problem = checkSignature(format, contents, file[end:len(file)-1]); section != "" {
		return whole, section, problem
	}
	at := len(opening) + len(contents)
	return cut(whole, file, at, end, found[2:])
}

// checkSignature distinguishes altered contents from an altered signature.
func checkSignature(format string, contents, text []byte) (whole opened, section, problem string) {
	found := signatureForm.FindSubmatch(text)
	if found == nil {
		return whole, Signature, "it is no signature of the format " + format
	}
	public, value := unhex(found[3]), unhex(found[4])
	hashed := countersign.SHA256Hex(contents) == string(found[1])
	good := countersign.CheckEd25519(public) == nil && ed25519.Verify(public, signed(format, contents), value)
	switch {
	case !hashed && !good:
		return whole, Contents, "the table of contents is not what was signed"
	case !hashed:
		return whole, Signature, "its contentsSha256 is not that of the contents, which are what was signed"
	case !good:
		return whole, Signature, "it is not that of the contents by the key beside it"
	case KeyID(public) != string(found[2]):
		return whole, Signature, "its keyId is not that of the key beside it"
	}
	return opened{format: format, publicKey: string(found[3]), keyID: string(found[2])}, "", ""
}

// cut extracts each section at the position in the contents and compares its digest.
func cut(whole opened, file []byte, at, end int, entries [][]byte) (opened, string, string) {
	literal := func(text string) bool {
		ok := at+len(text) <= end && string(file[at:at+len(text)]) == text
		at += len(text)
		return ok
	}
	misplaced := "what stands around the sections is not as the format has it"
	if !literal(beforeSections) {
		return whole, Frame, misplaced
	}
	for i, name := range Sections {
		if !literal(before(i, name)) {
			return whole, Frame, misplaced
		}
		n, _ := strconv.Atoi(string(entries[2*i])) // at most nine digits: the form says so
		if at+n > end || countersign.SHA256Hex(file[at:at+n]) != string(entries[2*i+1]) {
			return whole, name, "it is not the " + strconv.Itoa(n) + " bytes whose digest was signed"
		}
		whole.sections = append(whole.sections, file[at:at+n])
		at += n
	}
	if !literal(beforeSignature) || at != end {
		return whole, Frame, misplaced
	}
	return whole, "", ""
}

func unhex(text []byte) []byte {
	b, _ := hex.DecodeString(string(text)) // its form was checked
	return b
}
