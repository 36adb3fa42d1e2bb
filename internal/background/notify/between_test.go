package notify_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// TestNobodyIsToldOfWhatIsDecidedMeanwhile: the approval is decided after the notifier has
// read the waiting runs and before it claims the mails.
func TestNobodyIsToldOfWhatIsDecidedMeanwhile(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "one", 24*time.Hour, ada)
	shared := d.store
	d.store = rerun.Meanwhile(shared, func() { d.settle(func() { d.store = shared; d.decide("acme", "one") }) })
	d.restart()
	d.is("decided meanwhile", d.look(0))
}

// settle calls act and then restores the desk's store, which act may replace.
func (d *desk) settle(act func()) {
	before := d.store
	act()
	d.store = before
}
