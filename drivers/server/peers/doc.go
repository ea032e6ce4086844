// Package peers carries the messages of an ensemble's members over TCP.
//
// Each member connects to each other one and sends on that connection only, so there are two connections
// between two members. A further connection carries a snapshot. Messages that cannot be sent soon are
// dropped: package replica sends again what matters.
//
// # Authentication
//
// With TLS, both sides show a certificate that the authority has signed for the host in the member's address.
// With a secret, each side proves in the greeting that it knows the secret, and each later frame has a
// checksum (HMAC-SHA-256) that only the two sides can compute, so nobody else can add, change, repeat or
// leave out frames. A secret does not hide the traffic. Without either, anyone who reaches the address can
// act as a member.
//
// # Frames
//
// A frame is the length of what follows (4 bytes, big-endian), its kind (1 byte), the payload and, with a
// secret, the checksum of the frame's number on the connection, its kind and its payload (16 bytes).
//
//	1  greeting: "stampede peer 3", the sender, the receiver, the oldest and the newest version of the log that the
//	   sender reads and the one that is in force (0 if it does not know yet), the identity of its ensemble (0 if it
//	   has none yet), the checksum of all members' IDs, what the connection is for, a number of the
//	   sender's process, and a random number
//	2  the answer to it: a random number and the proof of the secret
//	3  the proof of the other side
//	4  a message of raft, in the encoding of package raftpb
//	5  why the sender is refused, once it has given its proof; or at once, if what it sent is no greeting
//	6  nothing: the sender is not refused; then sent every second, so that a broken connection is noticed
//	7  a part of a snapshot
//	8  the snapshot is stored
//	9  a message of raft with a vote that counts only together with all others
package peers
