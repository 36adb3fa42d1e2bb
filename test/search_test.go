package test

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func found(c *harness.Client, t *testing.T, q string) (ids []string) {
	t.Helper()
	for _, hit := range c.Get("/search?q=" + url.QueryEscape(q)).OK(t).At("items").Items() {
		ids = append(ids, hit.At("kind").Text()+" "+hit.At("id").Text())
	}
	return ids
}

func (w *world) isFound(t *testing.T, q, id string) {
	t.Helper()
	harness.Until(t, q+" finds "+id, func() bool { ids := found(w.operator, t, q); return len(ids) == 1 && ids[0] == id })
}

// TestARunIsFoundByWhatPeopleHaveInHand: an input, an answer's reference, the key of its
// start; a token by its name, for who may list tokens.
func TestARunIsFoundByWhatPeopleHaveInHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("a", "refund", doc{"orderId": "Order 48213"})))
	id := w.operator.Post("/runs", doc{"planId": plan}, keyed("what-the-clerk-wrote-down")).OK(t).At("id").Text()
	w.isFound(t, "what-the-clerk-wrote-down", "run "+id)
	w.isFound(t, "order  48213", "run "+id)
	w.isFound(t, "48213", "run "+id)
	w.isFound(t, "482", "run "+id)
	if ids := found(w.operator, t, "8213"); len(ids) > 0 {
		t.Errorf("the middle finds %v", ids)
	}
	w.operator.Post("/runs/"+id+"/cancel", doc{"reason": "no"}).OK(t)
	w.viewer.Get("/search?q=48213").OK(t).Is(t, "items.0.where", "input orderId of step a").Is(t, "items.0.value", "Order 48213").Is(t, "items.0.mode", "LIVE")
	w.Admin.Post("/tokens", doc{"name": "night desk", "roles": []string{"VIEWER"}}).OK(t)
	if ids := found(w.Admin, t, "Night"); len(ids) != 1 {
		t.Errorf("an admin finds %v", ids)
	}
	if ids := found(w.operator, t, "Night"); len(ids) > 0 {
		t.Errorf("who may not list tokens finds %v", ids)
	}
	w.operator.Get("/search").OK(t).Is(t, "items", []string{})

	for _, q := range []string{"q=48213", "reason=cancelled", "capability=refund", "capability=" + shop + "/refund", "q=order+48213&reason=cancelled&capability=refund&status=CANCELLED&since=2020-01-01T00:00:00Z"} {
		harness.Until(t, "GET /runs?"+q, func() bool { return w.viewer.Get("/runs?"+q).OK(t).At("items.0.id").Text() == id })
		w.viewer.Get("/runs?"+q).OK(t).Is(t, "total", 1)
	}
	for _, q := range []string{"q=nowhere", "reason=drift", "capability=note", "agentId=nobody", "until=2020-01-01T00:00:00Z", "since=2090-01-01T00:00:00Z", "q=48213&reason=drift"} {
		w.viewer.Get("/runs?"+q).OK(t).Is(t, "total", 0)
	}
	w.viewer.Get("/runs?reason=bad").Refused(t, "invalid_request", "reason")
	w.viewer.Get("/runs?since=yesterday").Refused(t, "invalid_request", "since")
}

// TestASensitiveValueIsFoundByAllOfItAndByWhoMaySeeIt.
func TestASensitiveValueIsFoundByAllOfItAndByWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	plan := w.ready(t, planOf(harness.With(step("a", "body", doc{"card": secretCard, "text": "plain-77"}), "projectId", "default-private")))
	id := w.operator.Post("/runs", doc{"planId": plan}, keyed("s")).OK(t).At("id").Text()
	w.isFound(t, "plain-77", "run "+id)
	w.isFound(t, secretCard, "run "+id)
	for _, q := range []string{"4711", "4711-hidden", "hidden-1", secretCard + "0"} {
		if ids := found(w.operator, t, q); len(ids) > 0 {
			t.Errorf("a part, %q, finds %v", q, ids)
		}
	}
	for _, q := range []string{secretCard, "•••"} {
		if ids := found(w.viewer, t, q); len(ids) > 0 {
			t.Errorf("a viewer finds %v by %q", ids, q)
		}
		w.viewer.Get("/runs?q="+url.QueryEscape(q)).OK(t).Is(t, "total", 0)
	}
	w.viewer.Get("/runs?q=plain-77").OK(t).Is(t, "total", 1)
	if ids := found(newWorld(t).operator, t, "plain-77"); len(ids) > 0 {
		t.Errorf("another tenant finds %v", ids)
	}
}
