// Package between is what lies between the members of an ensemble, where they can
// be made to hear each other late, little, or not at all.
//
// [Lines] are a SOCKS5 proxy (RFC 1928) for each member, through which that one, and
// nobody else, makes its connections to the others. So it is known of each whom it
// joins, whatever is said on it: both Java and Go connect through such a proxy when
// told to, also to an address that one member has learned from another.
//
// Note: a proxy before each member's port does not do. It would have to find out who
// calls, and on etcd only some requests say so; and a ZooKeeper that is called by a
// member of a lower number hangs up and calls back at the address that it was told,
// which is the one that the other listens at.
package between
