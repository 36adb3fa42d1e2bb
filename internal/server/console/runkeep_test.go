package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestARunIsHeldAndRedactedOnItsPage by an administrator who had no part in it and says that it can't
// be undone.
func TestARunIsHeldAndRedactedOnItsPage(t *testing.T) {
	w := openRunWorld(t)
	r := w.rejected(nil)
	if status, _ := w.guest("op@example.com", countersign.RoleOperator).open("/runs/" + r.ID + "/keep"); status != http.StatusForbidden {
		t.Errorf("an OPERATOR: %d", status)
	}
	g := w.guest("keeper@example.com", countersign.RoleAdmin)
	g.shows("/runs/"+r.ID, "Hold or redact", "secret of b")
	at := "/runs/" + r.ID + "/keep"
	g.submit(at, url.Values{"do": {"hold"}, "reason": {"the auditors"}})
	g.shows(at, "Held by", "the auditors", "End the hold")
	if status, page := g.submit(at, url.Values{"do": {"redact"}, "sure": {"yes"}, "reason": {"request 48"}}); status != http.StatusConflict || !strings.Contains(page, "is held since") || !strings.Contains(page, "request 48") {
		t.Errorf("%d %s", status, plainText(page))
	}
	g.submit(at, url.Values{"do": {"end"}, "reason": {"done"}})
	if status, page := g.submit(at, url.Values{"do": {"redact"}, "reason": {"request 48"}}); status != http.StatusBadRequest || !strings.Contains(strings.ToLower(plainText(page)), "confirm that a redaction is for good") {
		t.Errorf("%d %s", status, plainText(page))
	}
	g.submit(at, url.Values{"do": {"redact"}, "sure": {"yes"}, "reason": {"request 48"}})
	if _, page := g.open("/runs/" + r.ID); strings.Contains(page, "secret of b") {
		t.Error(plainText(page))
	}
	g.shows(at, "It was redacted by")
}
