// Versus compares the native server with Apache ZooKeeper, the lean client with go-zookeeper,
// and stampede run mix with loops that only get. Each server is a separate process and syncs
// every write to disk before it acknowledges it. Versus also compares the native server with a
// floor, a server that does only what every server has to do for the same load (package floor).
// Repeated measurements are interleaved, A B C C B A, and the ratio is the median of the
// rounds' ratios. The report says for each goal whether it is met.
//
//	make bench-servers
//	go run ./internal/versus -only mix
package main
