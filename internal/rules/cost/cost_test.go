package cost

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func TestAMeterRefusesWhatIsBeyondItsBoundForGood(t *testing.T) {
	m := New(t.Context(), 10, 2)
	if !m.Take(8, "a") || m.Over() || m.Err() != nil || m.Spent() != 10 {
		t.Errorf("within the bound: %+v", m)
	}
	m.At("steps[3]")
	if m.Take(1, "input.text") || m.Take(0, "later") || !m.Over() {
		t.Errorf("beyond it: %+v", m)
	}
	if err := m.Err(); countersign.ErrorCode(err) != countersign.CodeInvalidRequest || !strings.HasPrefix(err.Error(), "invalid_request: steps[3].input.text: judging what was sent takes more than 20 million steps") {
		t.Error(err)
	}
}

func TestAMeterEndsWithItsCaller(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	m := New(ctx, Most, 0)
	if !m.Take(1, "a") {
		t.Error(m.Err())
	}
	leave()
	if m.Take(1, "a") || !errors.Is(m.Err(), context.Canceled) {
		t.Error(m.Err())
	}
}

func TestWithoutAMeterNothingIsCounted(t *testing.T) {
	var m *Meter
	m.At("x")
	if !m.Take(Most+1, "a") || m.Over() || m.Err() != nil || m.Spent() != 0 {
		t.Error("a nil meter counts")
	}
}
