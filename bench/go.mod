module github.com/countersign/countersign/bench

go 1.26
