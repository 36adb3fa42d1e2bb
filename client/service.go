package client

import (
	"context"

	"github.com/countersign/countersign"
)

// Health is the state of the service: GET /health.
type Health struct {
	Status  string `json:"status"` // ok, or degraded: reads are served, writes are not
	Version string `json:"version"`
	Store   string `json:"store"` // ok or full
}

// Health asks whether the service is well. It needs no token.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	return get[Health](ctx, c, "/health")
}

// OpenAPI reads the API's OpenAPI document. It needs no token.
func (c *Client) OpenAPI(ctx context.Context) (*countersign.Value, error) {
	return get[countersign.Value](ctx, c, "/openapi.json")
}

// Metrics reads the tenant's metrics, and for a realm administrator those of the installation too
// (ADMIN).
func (c *Client) Metrics(ctx context.Context) (*countersign.Value, error) {
	return get[countersign.Value](ctx, c, "/metrics")
}

// Contract is what a back end must know to receive calls: GET /integrations/contract (contract 8).
type Contract struct {
	APIVersion     string            `json:"apiVersion"`
	Prefixes       []string          `json:"prefixes"`
	DefaultPrefix  string            `json:"sdkDefaultPrefix"`
	SDKOperations  []string          `json:"sdkOperations"`
	Manifest       countersign.Value `json:"manifest"`
	Heartbeat      countersign.Value `json:"heartbeat"`
	RuntimeHeaders map[string]string `json:"runtimeHeaders"`
	Signing        Signing           `json:"signing"`
	Limits         map[string]int64  `json:"limits"`
	ErrorCodes     map[string]int    `json:"errorCodes"` // code to HTTP status

	ReceiptKeys []countersign.ReceiptKey `json:"receiptKeys"` // the public keys that sign receipts, the current one first
}

// Signing describes how calls to a project with HMAC are signed. The package receiver verifies them.
type Signing struct {
	Algorithm     string            `json:"algorithm"`
	Parts         []string          `json:"parts"`
	Separator     string            `json:"separator"`
	BodyHash      string            `json:"bodyHash"`
	WindowSeconds int64             `json:"windowSeconds"`
	Vector        countersign.Value `json:"vector"` // an example with every intermediate text
}

// IntegrationContract reads the machine-readable contract.
func (c *Client) IntegrationContract(ctx context.Context) (*Contract, error) {
	return get[Contract](ctx, c, "/integrations/contract")
}
