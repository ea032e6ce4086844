// Command go-zookeeper registers a member and follows a configuration, as programs on that library often do: it creates
// the node once, and reads the configuration in a loop. It does not look at the events of its session.
//
//	stampede observe --env ZK_CONNECT={address} -- go-zookeeper 15    # seconds
package main

import (
	"errors"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

func main() {
	length, err := time.ParseDuration(strings.Join(os.Args[1:], " ") + "s")
	if err != nil {
		log.Fatal("usage: go-zookeeper SECONDS")
	}
	conn, _, err := zk.Connect(strings.Split(os.Getenv("ZK_CONNECT"), ","), 4*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	for _, path := range []string{"/app", "/app/members", "/app/config"} {
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			log.Fatal(err)
		}
	}
	if _, err := conn.Create("/app/members/go-zookeeper", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		log.Fatal(err)
	}
	go follow(conn)
	time.Sleep(length)
}

func follow(conn *zk.Conn) {
	for {
		_, _, changed, err := conn.GetW("/app/config")
		if err != nil {
			log.Print(err)
			time.Sleep(time.Second)
			continue
		}
		<-changed // the program would use the data here
	}
}
