package partition_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster/partition"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A third-party SOCKS5 client reaches a member by its port, whatever host name it uses, and gets an
// error if the member does not listen.
func TestProxy(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "it is ", r.Host) }))
	defer there.Close()
	address := strings.TrimPrefix(there.URL, "http://")
	gone := testenv.Address(t)
	l, err := partition.New([][]string{{gone}, {address}})
	if err != nil {
		t.Fatal(err)
	}
	proxy := &url.URL{Scheme: "socks5", Host: l.Proxy(0)}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	_, port, _ := net.SplitHostPort(address)
	for _, host := range []string{"127.0.0.1", "[::1]", "member-2.invalid"} {
		answer, err := client.Get("http://" + host + ":" + port)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if want := "it is " + host + ":" + port; string(body) != want || err != nil {
			t.Errorf("got %q (%v), want %q", body, err, want)
		}
	}
	if _, err := client.Get("http://" + gone); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("at a port without a listener: %v, want a refusal", err)
	}
	l.Close()
	if _, err := client.Get("http://member-2.invalid:" + port); err == nil {
		t.Error("it is closed, and leads there still")
	}
}
