module github.com/countersign/countersign/bench/peers/simulation

go 1.26

require (
	github.com/looplab/fsm v1.0.3
	github.com/qmuntal/stateless v1.7.2
)
