package backends

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/suggest"
)

// A Target is a service that a URL names. Only Parse makes one.
type Target struct {
	url     string
	backend Backend
	client  client // one of the backend's
	named   bool   // the URL names the client

	servers        []string      // host:port each; none if the run starts the servers
	chroot         string        // "" or a path that begins with a slash
	sessionTimeout time.Duration // 0: the default
	consistency    string        // one of the backend's; "": its first
	members        int           // number of servers that the run starts
	clients        string        // one of balancer.Names
	durability     string        // one of the backend's; only for started servers
	security       drivers.Security
	encrypted      bool // the started servers speak TLS
	divisible      bool // the started servers can be isolated
	ownDisks       bool // their disks can hang
}

// addresses matches servers without a scheme, as other tools accept them.
var addresses = regexp.MustCompile(`^[A-Za-z0-9._-]+:[0-9]+([,/].*)?$`)

// other are the schemes by which other tools name a service, with those of this one.
var other = map[string]string{"zk": "zookeeper", "http": "etcd", "https": "etcd"}

// port matches a path that ends with a port, which belongs to a host.
var port = regexp.MustCompile(`:[0-9]+$`)

// peers matches a server as zoo.cfg lists it, with the ports between servers.
var peers = regexp.MustCompile(`^([A-Za-z0-9._-]+:[0-9]+):[0-9]+:[0-9]+$`)

// unknownBackend returns the error for a URL of no backend. For an address as other tools write it, it says which
// URLs that may stand for.
func unknownBackend(given, scheme string) error {
	if at := peers.FindStringSubmatch(given); at != nil {
		return fmt.Errorf("backend %q has the ports between servers: want zookeeper://%s", given, at[1])
	}
	// Other tools repeat the scheme before each address.
	if own, address := other[scheme], strings.ReplaceAll(given, scheme+"://", ""); own != "" && address != given {
		return fmt.Errorf("unknown backend %q: want %s://%s", scheme, own, strings.TrimSuffix(address, "/"))
	}
	if !addresses.MatchString(given) {
		return suggest.Unknown("backend", scheme, schemes())
	}
	var urls []string
	for _, s := range schemes() {
		urls = append(urls, s+"://"+given)
	}
	return fmt.Errorf("backend %q has no scheme: want %s", given, strings.Join(urls, " or "))
}

// String returns the URL as it was given, with the colon that may be left out after a scheme alone.
func (t Target) String() string { return t.url }

// Given reports whether the URL has an address. The run starts a target without one.
func (t Target) Given() bool { return t.servers != nil }

// Scheme returns the scheme of the backend's URLs.
func (t Target) Scheme() string { return t.backend.Scheme }

// Servers returns the addresses, host:port, of a given service; nil if the run starts it.
func (t Target) Servers() []string { return slices.Clone(t.servers) }

// FillsDisks reports whether the disks of the servers that the run starts can be filled.
func (t Target) FillsDisks() bool {
	_, durable := t.Started()
	return durable && t.backend.local.FillsDisks()
}

// Started returns how many servers the run starts, 0 for a given service, and whether they keep
// their data on disk.
func (t Target) Started() (servers int, durable bool) {
	if t.Given() {
		return 0, false
	}
	return t.members, t.durability != server.Memory
}

// Client returns the name of the library that opens sessions.
func (t Target) Client() string { return t.client.name }

// Offers reports whether forms that need the named client can be run.
func (t Target) Offers(client string) bool {
	if t.named {
		return client == t.client.name
	}
	return slices.Contains(t.backend.clientNames(), client)
}

// Backend returns the row of the table that the URL's scheme names.
func (t Target) Backend() Backend { return t.backend }

// Parse parses a backend's URL. It starts nothing and contacts no server. Its error is one line
// that names the valid values.
//
// Credentials do not belong in a URL: they would end up in results and shell histories. Parse
// rejects them and does not repeat them in the error.
func Parse(given string) (Target, error) {
	scheme, rest, found := strings.Cut(given, ":")
	t := Target{url: given, members: 1, clients: balancer.All}
	var known bool
	if t.backend, known = find(scheme); !known {
		return Target{}, unknownBackend(given, scheme)
	}
	if !found {
		t.url += ":" // a scheme alone may be given without its colon
	}
	if strings.Contains(rest, "@") {
		return Target{}, fmt.Errorf("backend %s: credentials are not taken from the URL", scheme)
	}
	place, query, _ := strings.Cut(rest, "?")
	if err := t.parsePlace(place); err != nil {
		return Target{}, fmt.Errorf("backend %q: %w", given, err)
	}
	if err := t.parseQuery(query); err != nil {
		return Target{}, fmt.Errorf("backend %q: %w", scheme+":"+place, err) // without the query, which may contain anything
	}
	return t, nil
}

// parsePlace parses the part before the query: nothing, or //host[:port][,…][/chroot].
func (t *Target) parsePlace(place string) error {
	if place == "" {
		return nil
	}
	authority, found := strings.CutPrefix(place, "//")
	if !found {
		return fmt.Errorf("after %s: comes nothing, or //host:port", t.backend.Scheme)
	}
	hosts := authority
	if slash := strings.IndexByte(authority, '/'); slash >= 0 {
		hosts = authority[:slash]
		if err := t.parseChroot(authority[slash:]); err != nil {
			return err
		}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		server, err := address(host, t.backend.port)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, server)
	}
	return nil
}

func (t *Target) parseChroot(path string) error {
	if path == "/" {
		return nil
	}
	if strings.Contains(path, ",") || port.MatchString(path) {
		return fmt.Errorf("chroot %q has a comma or a port: it comes once, after all hosts, as in %s://host:%s,host:%[3]s/name", path, t.backend.Scheme, t.backend.port)
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("chroot %q: want /name/name…", path)
		}
	}
	t.chroot = path
	return nil
}

// address checks a host, with or without a port, and returns it with a port.
func address(given, defaultPort string) (string, error) {
	host, port, err := net.SplitHostPort(given)
	if err != nil { // no port, perhaps
		host, port, err = net.SplitHostPort(given + ":" + defaultPort)
	}
	if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n#?[]") {
		return "", fmt.Errorf("host %q: want host:port", given)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("host %q: port %q is not a number from 1 to 65535", given, port)
	}
	return net.JoinHostPort(host, port), nil
}

func (t *Target) parseQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("query: want key=value&key=value…")
	}
	keys := t.backend.keyNames()
	for name, given := range values {
		if !slices.Contains(keys, name) {
			return suggest.Unknown("key", name, keys)
		}
		if len(given) > 1 {
			return fmt.Errorf("key %q is given %d times", name, len(given))
		}
	}
	if given := values.Get(sessionTimeout.Name); values.Has(sessionTimeout.Name) {
		t.sessionTimeout, err = time.ParseDuration(given)
		if err != nil || t.sessionTimeout < drivers.LeastSessionTimeout {
			return fmt.Errorf("%s=%s: want a duration of at least %v, e.g. 10s", sessionTimeout.Name, given, drivers.LeastSessionTimeout)
		}
	}
	t.client = t.backend.clients[0]
	for _, key := range []struct {
		name string
		set  func(string) error
	}{
		// The number of servers comes before what depends on it.
		{consistency.Name, t.setConsistency}, {servers.Name, t.setServers}, {clients.Name, t.setClients}, {library.Name, t.setClient},
		{encrypted.Name, t.setEncrypted}, {durability.Name, t.setDurability},
	} {
		if values.Has(key.name) {
			if err := key.set(values.Get(key.name)); err != nil {
				return err
			}
		}
	}
	t.durability = cmp.Or(t.durability, t.durabilities()[0])
	return nil
}

// maxServers is the most servers that a machine can be expected to run beside the clients.
const maxServers = 9

func (t *Target) setServers(given string) error {
	if t.Given() {
		return errors.New("servers is for a service that is started: a given one has those of its addresses")
	}
	n, err := strconv.Atoi(given)
	switch {
	case err != nil || n < 1 || n > maxServers:
		return fmt.Errorf("servers=%s: want 1, 3, 5, 7 or 9", given)
	case n%2 == 0:
		return fmt.Errorf("servers=%d: want an odd number: with %d no more of them may fail than with %d", n, n, n-1)
	}
	t.members = n
	return nil
}

// setClients must be called after setServers.
func (t *Target) setClients(given string) error {
	if !slices.Contains(balancer.Names(), given) {
		return suggest.Unknown("place for clients", given, balancer.Names())
	}
	if n := max(t.members, len(t.servers)); given == balancer.Followers && n == 1 && !t.byName() {
		return errOneServer
	}
	t.clients = given
	return nil
}

// errOneServer: sessions are asked for on followers where there are none.
var errOneServer = errors.New("clients=followers: one server has no followers")

// byName reports whether the first server is given by a name, which may have several addresses.
func (t *Target) byName() bool {
	if !t.Given() {
		return false
	}
	host, _, _ := net.SplitHostPort(t.servers[0])
	return net.ParseIP(host) == nil
}

// durabilities returns those of the servers that the run starts, the default first.
func (t *Target) durabilities() []string {
	if t.members > 1 && t.backend.several != nil {
		return t.backend.several
	}
	return t.backend.durability
}

// setDurability must be called after setServers.
func (t *Target) setDurability(given string) error {
	if t.Given() {
		return errors.New("durability is for a service that is started: a given one has its own")
	}
	if given == server.Memory && slices.Contains(t.backend.durability, given) && !slices.Contains(t.durabilities(), given) {
		return fmt.Errorf("durability=memory: %d servers keep their log on disk, because one that forgets it may vote twice: want fsync", t.members)
	}
	if !slices.Contains(t.durabilities(), given) {
		return suggest.Unknown("durability", given, t.durabilities())
	}
	t.durability = given
	return nil
}

func (t *Target) setEncrypted(given string) error {
	if t.Given() {
		return errors.New("tls is for a service that is started: how to connect to a given one is said by --tls-ca and its like")
	}
	if given != "true" && given != "false" {
		return fmt.Errorf("tls=%s: want true or false", given)
	}
	t.encrypted = given == "true"
	return nil
}

func (t *Target) setClient(name string) error {
	if t.client, t.named = t.backend.client(name); !t.named {
		return suggest.Unknown("client", name, t.backend.clientNames())
	}
	return nil
}

func (t *Target) setConsistency(mode string) error {
	if !slices.Contains(t.backend.consistencies, mode) {
		return suggest.Unknown("consistency", mode, t.backend.consistencies)
	}
	t.consistency = mode
	return nil
}

// Options are the settings of a target that are not in its URL.
type Options struct {
	// Security says how to connect to a given service. A service that the run starts has none.
	Security drivers.Security
	// Consistency is that of reads if the URL does not set one; "" means the backend's default.
	Consistency string
	// Divisible: the members of a started ensemble can be isolated. It has no effect on other
	// targets.
	Divisible bool
	// OwnDisks: the disks of the members of a started service can hang. It has no effect on other targets.
	OwnDisks bool
}

// WithOptions returns the target with the options. It reads no file.
func (t Target) WithOptions(o Options) (Target, error) {
	if o.Consistency != "" && t.consistency == "" {
		if err := t.setConsistency(o.Consistency); err != nil {
			return Target{}, fmt.Errorf("backend %s: %w", t.backend.Scheme, err)
		}
	}
	if err := o.Security.Validate(); err != nil {
		return Target{}, err
	}
	if !o.Security.IsZero() && !t.Given() {
		return Target{}, fmt.Errorf("backend %q: %w", t.url, ErrStarted)
	}
	t.security = o.Security
	t.divisible = o.Divisible && !t.Given() && t.members > 1
	_, durable := t.Started()
	t.ownDisks = o.OwnDisks && durable
	return t, nil
}

// ErrStarted: TLS or credentials were given for a service that the run starts.
var ErrStarted = errors.New("TLS and credentials are for a service given by its address, and this one would be started for the run")
