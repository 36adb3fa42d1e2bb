package runs

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestEveryListOfRunsSaysThatAFailedOneMayHaveTakenEffect: FAILED alone reads as "nothing
// was done", and somebody would do it again.
func TestEveryListOfRunsSaysThatAFailedOneMayHaveTakenEffect(t *testing.T) {
	r := told(failedWith(countersign.CodeExpectationNotMet, "status is \"pending\""))
	for _, may := range []bool{false, true} {
		r.MayHaveHappened = may
		for place, words := range map[string]string{"the list of runs": whereWords(r), "what is wrong": failureWords(r)} {
			if strings.Contains(words, "answered, not as expected; it may have taken effect") != may {
				t.Errorf("%s, mayHaveHappened %v: %s", place, may, words)
			}
		}
	}
}

// TestAnEarlierSendingThatMayArriveIsSaidEverywhere, whatever the run ended with.
func TestAnEarlierSendingThatMayArriveIsSaidEverywhere(t *testing.T) {
	r := told(failedWith(countersign.CodeReceiverRefused, "the receiver refused the request with 422"))
	r.MayHaveHappened = true
	var c callout
	c.failed(r)
	for place, words := range map[string]string{"the list of runs": whereWords(r), "what is wrong": failureWords(r), "the run's page": strings.ToLower(c.Detail)} {
		if !strings.Contains(words, "an earlier sending may still arrive; it may take effect") {
			t.Errorf("%s: %s", place, words)
		}
	}
}
