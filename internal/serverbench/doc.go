// Serverbench compares the native server with Apache ZooKeeper, the lean client with go-zookeeper,
// and stampede run mix with loops that only get. Each server is a separate process and syncs
// every write to disk before it acknowledges it. Serverbench also compares the native server with
// a floor, a server that does only what every server has to do for the same load (package floor).
// Repeated measurements are interleaved, A B C C B A, and the ratio is the median of the
// rounds' ratios. The report says for each goal whether it is met.
//
// With -ensembles it compares three native servers with three ZooKeepers: operations, and the time from the
// end of a leader to the next write.
//
//	make bench-servers
//	make bench-ensembles
//	go run ./internal/serverbench -only mix
//
// Note: stampede ab and stampede gate do not replace it. They compare runs of stampede, and
// the floors, the bare loops, unmodified go-zookeeper, the memory of a process and the start on a
// snapshot are not runs; in a run, the load generator would be part of each figure. The table of
// the mix measures how large that part is.
package main
