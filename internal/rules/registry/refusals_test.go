package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

// TestAManifestsProblemsSayWhatWouldBeRight reads each message.
func TestAManifestsProblemsSayWhatWouldBeRight(t *testing.T) {
	for _, test := range []struct {
		manifest *countersign.Manifest
		want     string
	}{
		{manifest(item("clerk"), item("clerk")), "agents[1].externalAgentId: clerk is agents[0] already; name each agent once"},
		{manifest(item("cle\u0007rk")), "agents[0].externalAgentId: must be visible text without control characters"},
		{manifest(item("clerk", capable("look", "pay", "refund"))), "agents[0].capabilities[2]: project acme-shop has no capability refund; an ADMIN registers it first"},
		{manifest(item("clerk", capable("look", "pay", "look"))), "agents[0].capabilities[2]: look is listed already"},
		{manifest(item("clerk", fixed("open", "x", "1"))), "agents[0].executorInputs.open: open is none of the agent's capabilities"},
		{manifest(item("clerk", fixed("pay", "amount", `"12"`))), "agents[0].executorInputs.pay.amount: must be number, not string"},
		{manifest(item("clerk", modelled("none"))), "agents[0].modelId: there is no model none"},
		{manifest(item("clerk", modelled("theirs"))), "agents[0].modelId: model theirs belongs to an agent of another system; take a model of its own"},
	} {
		if got := registry.Check(test.manifest, facts()); len(got) != 1 || got[0].String() != test.want {
			t.Errorf("\n got %s\nwant %s", countersign.JoinProblems(got), test.want)
		}
	}
}

// TestASyncThatConflictsSaysWhatToSend reads both conflicts.
func TestASyncThatConflictsSaysWhatToSend(t *testing.T) {
	stored := registered(t)
	for _, test := range []struct {
		item countersign.ManifestAgent
		want string
	}{
		{item("clerk-1", at(2)), "manifest_conflict: agent clerk-1 is at source revision 3, newer than 2; send the present manifest"},
		{item("clerk-1", capable("look", "pay", "open")), "manifest_conflict: agent clerk-1 has other content at source revision 3; raise sourceRevision with each change"},
	} {
		if _, _, err := registry.Sync(&stored, "acme-shop", test.item, noon); err == nil || err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", err, test.want)
		}
	}
}

// TestAHeartbeatThatIsRefusedSaysWhatWouldBeRight reads each message.
func TestAHeartbeatThatIsRefusedSaysWhatWouldBeRight(t *testing.T) {
	last := heard(t, beat(7, countersign.InstanceIdle, noon))
	zoneless := beat(8, countersign.InstanceIdle, noon)
	zoneless.Timestamp = strings.TrimSuffix(zoneless.Timestamp, "Z")
	hidden := beat(8, countersign.InstanceIdle, noon)
	hidden.InstanceID = "desk\n1"
	for _, test := range []struct {
		beat countersign.Heartbeat
		want string
	}{
		{beat(6, countersign.InstanceIdle, noon), "sequence_conflict: sequence: instance i-1 has used 7 already; the next is above it"},
		{beat(8, countersign.InstanceIdle, noon.Add(3*time.Minute)), "invalid_request: timestamp: it is 3m0s from the server's 2026-03-01T12:00:00Z; set the instance's clock, at most 2m0s away"},
		{zoneless, "invalid_request: timestamp: it must be a time with its zone, such as 2026-11-21T09:17:47Z; timestamp: must be a time with its zone, such as 2026-11-21T09:17:47Z"},
		{hidden, "instanceId: must not hold control characters"},
	} {
		_, _, err := registry.Beat(last, test.beat, noon)
		got := countersign.JoinProblems(registry.CheckHeartbeat(test.beat))
		if err != nil {
			got = strings.TrimSuffix(err.Error()+"; "+got, "; ")
		}
		if got != test.want {
			t.Errorf("\n got %s\nwant %s", got, test.want)
		}
	}
}
