package receipt

import (
	"encoding/hex"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// Cosigned is a head of the log that witnesses have cosigned and that contains each record of the
// receipt, with the path from there to the receipt's own head (RFC 6962, 2.1.2).
type Cosigned struct {
	Checkpoint string   `json:"checkpoint"` // a signed note
	Proof      []string `json:"proof"`      // empty where both heads are of one size
}

// Witnessed is what a verification found of a cosigned head.
type Witnessed struct {
	Epoch  int64         `json:"epoch"` // of the log: 0 is the first
	Origin string        `json:"origin"`
	Size   int64         `json:"size"`
	Root   string        `json:"root"`
	By     []Cosignature `json:"by"` // of the witnesses that were given, in their order
}

// Cosignature is that of a witness that was given.
type Cosignature struct {
	Witness string `json:"witness"` // its vkey
	At      string `json:"at"`
}

const notCosigned = "no witness has cosigned a head of the log that contains the receipt; one that is got later may have it"

// checkCosigned verifies the cosigned head and the path from there to the receipt's own, and asks
// it of the policy.
func (c *claims) checkCosigned() string {
	given := c.audit.at("cosigned")
	if !given.exists() {
		if c.known.Policy.Asked() > 0 {
			return notCosigned
		}
		return ""
	}
	if c.format == Format {
		return "this format has no cosigned head"
	}
	judged, err := c.known.Policy.Judge(given.at("checkpoint").text(), c.statement.at("tenantId").text())
	if err != nil {
		return err.Error()
	}
	if !c.contains(judged.Head, given) {
		return "the cosigned head of " + strconv.FormatInt(judged.Head.Size, 10) + " records is not proven to be on the way to the receipt's own, with each of its records"
	}
	root := judged.Head.Hash
	c.witnessed = &Witnessed{judged.Epoch, judged.Head.Origin, judged.Head.Size, hex.EncodeToString(root[:]), []Cosignature{}}
	for _, by := range judged.By {
		c.witnessed.By = append(c.witnessed.By, Cosignature{by.Witness.String(), by.At.Format("2006-01-02T15:04:05Z")})
	}
	return ""
}

// contains reports that a cosigned head has all records of the receipt, and that the receipt's own
// head goes on from it.
func (c *claims) contains(cosigned checkpoint.Head, given node) bool {
	own := checkpoint.Head{Size: c.audit.at("head").at("size").whole()}
	own.Hash, _ = hash(c.audit.at("head").at("root").text()) // its form was checked
	var path []tlog.Hash
	for _, text := range given.at("proof").list() {
		h, ok := hash(text.text())
		if !ok {
			return false
		}
		path = append(path, h)
	}
	last := int64(-1)
	if n := len(c.proven); n > 0 {
		last = c.proven[n-1].seq
	}
	return cosigned.Size > max(last, 0) && cosigned.Size <= own.Size && checkpoint.Extends(cosigned, own, path)
}
