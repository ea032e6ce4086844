module github.com/stampede-bench/stampede

go 1.26

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/agnivade/levenshtein v1.2.2
	github.com/go-zookeeper/zk v1.0.4
	github.com/google/go-cmp v0.7.0
)
