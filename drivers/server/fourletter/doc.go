// Package fourletter answers ZooKeeper's four-letter words, such as "srvr" and "mntr", in
// ZooKeeper's formats.
package fourletter
