// Package demo is the command `countersign demo`: it shows the main use of the service on
// real parts without any setup (contract 10). It starts the service, which its caller wires
// up, and a shop whose API the service calls. It does everything else over the API, as any
// client, and must access neither the store nor the use cases.
package demo
