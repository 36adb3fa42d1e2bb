package demo

import (
	"bytes"
	"context"
	"os"

	"github.com/countersign/countersign/internal/evidence/receipt"
)

// receiptFile is the receipt of the refund's run in a demo's directory.
const receiptFile = "refund.receipt.json"

// receipt saves the receipt of the refund's run and verifies it with nothing but the file and
// the published key.
func (d *demo) receipt(ctx context.Context) error {
	text, err := d.reviewer.Receipt(ctx, d.refundRun.ID)
	if err != nil {
		return err
	}
	contract, err := d.reviewer.IntegrationContract(ctx)
	if err != nil {
		return err
	}
	path := d.place.file(receiptFile)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	if d.place.temporary {
		path = receiptFile + ", beside the temporary store"
	}
	d.print.say("What became of the refund, for somebody who trusts neither this machine nor its network:")
	d.print.row("kept", "%s, %d bytes", path, len(text))
	return d.verifyReceipt(contract.ReceiptKeys[0].PublicKey)
}

func (d *demo) verifyReceipt(published string) error {
	text, err := os.ReadFile(d.place.file(receiptFile))
	if err != nil {
		return err
	}
	key, _ := receipt.ParseKey(published)
	v := receipt.Verify(text, key)
	d.holds(v.OK && v.Origin, "the receipt is valid; %s: %s", v.Section, v.Problem)
	if !v.OK {
		d.print.row("receipt", "NOT valid, %s: %s", v.Section, v.Problem)
		return nil
	}
	d.print.row("valid", "signed by the key that the service publishes,")
	d.print.row("", "%s", v.PublicKey)
	d.print.row("proven", "%d audit records under the signed head of %d: who approved what, and why", v.Records, v.TreeSize)
	d.print.row("", "%d distinct requests, each digest computed anew", v.Requests)
	d.holds(len(v.Answers) > 0, "the receipt has answers that the shop has signed")
	d.print.row("", "%s of the shop, signed by the key that the log has for it", count(len(v.Answers), "answer", "answers"))
	altered := receipt.Verify(bytes.Replace(text, []byte(`"amount":249,`), []byte(`"amount":248,`), 1), key)
	d.holds(!altered.OK, "an altered receipt is not valid")
	d.print.row("altered", "with an amount of 248 instead of 249 it fails, in the section %s", altered.Section)
	return nil
}
