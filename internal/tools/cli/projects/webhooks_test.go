package projects

import (
	"reflect"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestTheFlagOfWebhooksOffersEachEvent, in its list and in its help.
func TestTheFlagOfWebhooksOffersEachEvent(t *testing.T) {
	field, has := reflect.TypeFor[WebhooksPut]().FieldByName("Event")
	if !has || field.Tag.Get("enum") != strings.Join(countersign.WebhookEvents, ",") {
		t.Errorf("--event takes %s, and the events are %q", field.Tag.Get("enum"), countersign.WebhookEvents)
	}
	for _, name := range countersign.WebhookEvents {
		if !strings.Contains(field.Tag.Get("help"), name) {
			t.Errorf("the help of --event doesn't name %s", name)
		}
	}
}
