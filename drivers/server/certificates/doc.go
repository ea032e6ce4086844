// Package certificates reads a server's TLS files, again whenever they change, and names the
// subjects of its clients' certificates.
package certificates
