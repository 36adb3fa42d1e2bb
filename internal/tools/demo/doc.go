// Package demo plays `countersign demo`: the main job on real parts with nothing to set up
// (contract 10). It starts the service that its caller wires up and a shop whose API the
// service calls, and does everything else over the API, as any client. It must reach
// neither the store nor the use cases.
package demo
