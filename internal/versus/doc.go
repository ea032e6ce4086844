// Versus compares the native server with Apache ZooKeeper, the lean client with
// go-zookeeper, and stampede run mix with loops that do nothing but get. Servers are
// processes of their own that have every write on disk before they acknowledge it.
// Where there is something to repeat, the two sides are measured by turns, A B B A,
// and the ratio is the median of the rounds' ratios. It ends with tables that say of
// each goal whether it is met.
//
//	make bench-servers
//	go run ./internal/versus -only mix
package main
