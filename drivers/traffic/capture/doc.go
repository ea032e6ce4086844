// Package capture reads the traffic of other programs from captured packets, in pcap or pcapng files or in a pipe that another
// program writes, with nothing in the path of the traffic. It reports what the connections carry to a [traffic.Observer].
//
// Connections that were open before the capture began are reported as joined. Bytes that the
// capture lost are reported as gaps.
package capture
