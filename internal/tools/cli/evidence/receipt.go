package evidence

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Receipt are the commands on receipts of runs (docs/reference/receipt.md).
type Receipt struct {
	Get    ReceiptGet    `cmd:"" help:"Keep the signed receipt of an ended run in a file." example:"receipt get run-1 -o refund.receipt.json"`
	Verify ReceiptVerify `cmd:"" help:"Verify a receipt offline; exit status 1 where a part of it fails, 7 where its format is of a later release." example:"receipt verify refund.receipt.json --key 9f2c…"`
	Keys   ReceiptKeys   `cmd:"" help:"List the public keys of the service's receipts; keep them where its operator can't write." example:"receipt keys"`
}

// ReceiptGet is the command `receipt get`.
type ReceiptGet struct {
	ID    string `arg:"" help:"The run's id."`
	File  string `name:"output" short:"o" default:"-" help:"File to write, readable by its owner alone, which must not be there yet; - is standard output." placeholder:"FILE"`
	Force bool   `help:"Overwrite a file that is there."`

	Cosigned bool `help:"Wait, up to 2 minutes, until witnesses have cosigned a head of the audit log that contains the receipt."`
	service.Connection
}

// Run saves the receipt byte for byte.
func (g *ReceiptGet) Run(t *terminal.Terminal) error {
	c, err := g.Client(t)
	if err != nil {
		return err
	}
	get := func(ctx context.Context) ([]byte, error) { return c.Receipt(ctx, g.ID) }
	if g.Cosigned {
		get = Cosigned(get)
	}
	text, err := get(t.Context)
	if err != nil {
		return err
	}
	if g.File == "-" {
		_, err = t.Out.Write(text)
		return err
	}
	if err := typed.WriteOwners(g.File, text, g.Force); err != nil {
		return err
	}
	fmt.Fprintf(t.Errs, "kept %s, %d bytes; 'countersign receipt verify %s' judges it\n", words.Plain(g.File), len(text), words.Plain(g.File))
	return nil
}

// ReceiptVerify is the command `receipt verify`.
type ReceiptVerify struct {
	File string `arg:"" help:"The receipt; - is standard input."`
	Key  string `help:"The installation's public key, 64 digits of hex, as 'countersign receipt keys' showed it. Without it only integrity is judged: anybody can make a key." placeholder:"PUBLICKEY"`
	Witnesses
	// AnswerKey are keys by which the reader knows that receivers sign.
	AnswerKey []string `help:"A public key by which an API signs its answers, ed25519: and 64 digits of hex; may be given several times. Each signed answer must then be by one of them. Without it the keys are those that the audit records in the receipt registered." placeholder:"ANSWERKEY"`
	terminal.Output
}

// Help explains what a receipt proves.
func (ReceiptVerify) Help() string {
	return "Needs nothing but the file: no service and no network. Every byte of it is covered by the signature; the audit records are proven to stand in the log under its signed head; the digest of each request is computed anew. docs/reference/receipt.md says what that proves."
}

// maxReceipt is larger than the receipt of any run.
const maxReceipt = 256 << 20

// Run verifies the file.
func (v *ReceiptVerify) Run(t *terminal.Terminal) error {
	var key ed25519.PublicKey
	if v.Key != "" {
		var ok bool
		if key, ok = receipt.ParseKey(v.Key); !ok {
			return terminal.Unusablef("--key must be the 64 digits of lowercase hex of a public key; 'countersign receipt keys' lists the service's")
		}
	}
	known, err := v.known()
	if err != nil {
		return err
	}
	text, err := typed.ReadFile(t, v.File, maxReceipt)
	if err != nil {
		return err
	}
	verdict := receipt.VerifyKnowing(text, key, known)
	if err := v.Print(t, verdict, func(w io.Writer) { PrintReceipt(w, verdict, len(known.Policy.Witnesses)) }); err != nil {
		return err
	}
	if verdict.OK && key == nil {
		fmt.Fprintln(t.Errs, "WARNING: no --key was given. This proves that nothing was altered since the key in the file signed it, and NOT whose key that is: compare it with the one that the installation published, or give it with --key.")
	}
	if verdict.UnknownFormat != "" {
		return terminal.StatusError{Status: terminal.ExitUnknown}
	}
	return terminal.VerdictOf(verdict.OK, nil)
}

// PrintReceipt prints what was checked, what it proves, and what fails.
func PrintReceipt(w io.Writer, v receipt.Verdict, witnesses int) {
	if v.UnknownFormat != "" {
		terminal.Facts(w, [2]string{"receipt", "NOT KNOWN: of the format " + v.UnknownFormat}, [2]string{"problem", v.Problem})
		return
	}
	if !v.OK {
		terminal.Facts(w, [2]string{"receipt", "NOT VALID"}, [2]string{"section", v.Section}, [2]string{"problem", v.Problem})
		return
	}
	signer := v.PublicKey + ", the key that was given"
	if !v.Origin {
		signer = v.PublicKey + ", whoever has it"
	}
	epoch, by := cosignedFacts(v, witnesses)
	terminal.Facts(w, epoch, [2]string{"receipt", v.Summary}, [2]string{"run", fmt.Sprintf("%s of tenant %s, %s, %s", v.RunID, v.Tenant, v.Mode, v.Status)},
		[2]string{"issued", v.IssuedAt}, [2]string{"signed by", signer},
		[2]string{"signature", "every byte is as it was signed, " + fmt.Sprint(len(receipt.Sections)) + " sections"},
		[2]string{"requests", fmt.Sprintf("%s %d, each digest computed anew", "distinct:", v.Requests-v.Hidden) + hiddenText(v.Hidden)},
		[2]string{"audit log", fmt.Sprintf("%d records proven under the signed head of %d: start, plan digest, what was sent, decisions, reconciliations, end", v.Records, v.TreeSize)},
		[2]string{"head", v.TreeRoot}, by, [2]string{"approved", approvedText(v)}, [2]string{"signed answers", answersText(v)},
		[2]string{"signature only", "inputs, answers, outputs, verification and snapshots: the log has no digest of them"})
}

// cosignedFacts are the epoch, which stands first, and who has cosigned.
func cosignedFacts(v receipt.Verdict, witnesses int) (epoch, by [2]string) {
	if v.Cosigned == nil {
		return epoch, by
	}
	var names []string
	for _, c := range v.Cosigned.By {
		name, _, _ := strings.Cut(c.Witness, "+")
		names = append(names, name+" at "+c.At)
	}
	return [2]string{"epoch", epochText(v.Cosigned.Epoch, v.Cosigned.Origin)}, [2]string{"cosigned", cosignedText(v.Cosigned.Size, names, witnesses)}
}

func hiddenText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more are masked, and not checked", n)
}

// approvedText describes a decision only as far as it is proven.
func approvedText(v receipt.Verdict) string {
	if v.Unlogged > 0 {
		return fmt.Sprintf("%d; %d are not proven by the log: the records of their decisions were left out", v.Approved, v.Unlogged)
	}
	return fmt.Sprintf("%d, each with who and why in the log, before its step was sent", v.Approved)
}

// ReceiptKeys is the command `receipt keys`.
type ReceiptKeys struct{ service.Asking }

// Run lists the keys, the present one first.
func (k *ReceiptKeys) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, k.Asking, func(c *client.Client) (*[]countersign.ReceiptKey, error) {
		contract, err := c.IntegrationContract(t.Context)
		if err != nil {
			return nil, err
		}
		return &contract.ReceiptKeys, nil
	}, printReceiptKeys)
}

func printReceiptKeys(w io.Writer, keys *[]countersign.ReceiptKey) {
	rows := make([][]string, len(*keys))
	for i, k := range *keys {
		rows[i] = []string{k.PublicKey, k.Algorithm, words.Moment(k.CreatedAt), words.Moment(k.RetiredAt)}
	}
	terminal.Table(w, []string{"public key", "algorithm", "created", "retired"}, rows)
}
