// Package watchstream changes what one connection of a client to etcd carries: it cancels watches in the name of the service,
// and breaks their streams, while everything else of the connection passes as it came.
//
// A [Conn] takes the bytes of both directions and returns those to pass on, whole frames of HTTP/2.
//
// A watch is cancelled at the server too: the Conn sends the request that a client would send, and gives the server's answer
// the reason, or the revision of a compaction, that the server did not have. So the client gets the answer where the server
// has put it among its messages, after every event that was sent before and with the server's header; no event
// follows it; and a client that chooses the identifiers of its watches may use this one again. What it does to the bytes
// of other watches and calls is nothing.
//
// A stream is broken by a RST_STREAM to each side, as by a proxy between them that has failed.
//
// What a Conn adds takes room in the receiver's window of flow control, of the connection and of the stream, of which the
// sender does not know. The Conn counts these bytes as a debt, and keeps as many of the room that the receiver returns
// next. Until then data that would not fit waits: the receiver never gets more than it has granted. What it
// drops of a broken stream it returns to the sender as room of the connection.
package watchstream
