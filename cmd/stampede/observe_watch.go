package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// openTapped starts the backend, unless it was given, and the proxy before it.
func (a *app) openTapped(ctx context.Context, f observeFlags, target backends.Target) (w tapped, err error) {
	servers := target.Servers()
	if servers == nil {
		service, err := target.Open(ctx)
		if err != nil {
			return w, err
		}
		w.service = service
		started, ok := service.(drivers.Ensemble)
		if !ok {
			return w, errors.Join(fmt.Errorf("%s: its servers have no address to observe at", target), service.Close())
		}
		for _, m := range started.Members() {
			servers = append(servers, m.Address())
		}
	}
	w.seen = observe.New(observe.DefaultLimits)
	w.secure = f.security.TLS() || f.encryption.given()
	w.proxy, w.broken, err = a.startProxy(f, target, servers, w.seen)
	if err != nil && w.service != nil {
		err = errors.Join(err, w.service.Close())
	}
	return w, err
}

func (a *app) startProxy(f observeFlags, target backends.Target, servers []string, seen *observe.Analysis) (*proxy.Proxy, *breaking, error) {
	encryption, err := f.security.TLSConfig()
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	protocol := protocolOf(target.Scheme())
	clients, err := f.encryption.config(traffic.ApplicationProtocols(protocol.Speaks...))
	if err != nil {
		return nil, nil, err
	}
	encrypted := func(server string) *tls.Config {
		if encryption == nil {
			return nil
		}
		c := encryption.Clone()
		if host, _, err := net.SplitHostPort(server); err == nil && c.ServerName == "" {
			c.ServerName = host
		}
		return c
	}
	var behind []proxy.Server
	for _, s := range servers {
		behind = append(behind, proxy.Server{Address: s, TLS: encrypted(s)})
	}
	addresses, err := proxy.Spread([]string{f.listen}, len(servers))
	if err != nil {
		return nil, nil, cli.Flagf("listen", ": %w", err)
	}
	o := proxy.Options{TLS: clients, Protocol: protocol, Observer: seen}
	var broken *breaking
	if f.faults.given() {
		if broken, err = newBreaking(target.Scheme(), servers, encrypted); err != nil {
			return nil, nil, err
		}
		o.Observer, o.Through, o.Refused = both{seen, broken.judge}, broken.Wrap, broken.refused
	}
	p, err := proxy.Listen(addresses, behind, o)
	if err != nil {
		if broken != nil {
			broken.close()
		}
		return nil, nil, fmt.Errorf("--listen: %w", err)
	}
	return p, broken, nil
}

// breakProgram injects the faults, if there are any, until the returned function is called.
func (a *app) breakProgram(ctx context.Context, f observeFlags, w tapped) (end func() error) {
	if w.broken == nil {
		return func() error { return nil }
	}
	service, _ := w.service.(drivers.Ensemble)
	fmt.Fprintf(a.err, "stampede: --seed %d\n", f.faults.seed)
	return w.broken.begin(ctx, f.faults, service, func(what string) { fmt.Fprintf(a.err, "stampede: fault: %s\n", what) })
}

// observeWhile runs the command, or waits, while traffic is observed. It returns an error if the command
// failed.
func (a *app) observeWhile(ctx context.Context, f observeFlags, command []string, w tapped, file *results.Observation) error {
	fmt.Fprintln(a.err, w)
	if len(command) > 0 {
		return a.runCommandUnder(ctx, f, command, w, file)
	}
	await(ctx, f.length)
	return nil
}

// await waits until the time has passed, or for Ctrl-C; 0 is forever.
func await(ctx context.Context, length time.Duration) {
	var passed <-chan time.Time
	if length > 0 {
		passed = time.After(length)
	}
	select {
	case <-passed:
	case <-ctx.Done():
	}
}

// placeholder stands for the proxy's address in arguments and in --env.
const placeholder = "{address}"

func (a *app) runCommandUnder(ctx context.Context, f observeFlags, command []string, w tapped, file *results.Observation) error {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = strings.ReplaceAll(word, placeholder, w.address())
	}
	child := exec.CommandContext(ctx, words[0], words[1:]...)
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = 10 * time.Second
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = os.Environ()
	for _, e := range f.env {
		child.Env = append(child.Env, strings.ReplaceAll(e, placeholder, w.address()))
	}
	err := child.Run()
	program := filepath.Base(command[0])
	if child.ProcessState == nil {
		return fmt.Errorf("run %s: %w", program, err)
	}
	code := child.ProcessState.ExitCode()
	file.Program, file.Exit = &program, &code
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		name := status.Signal().String()
		code = 128 + int(status.Signal()) // as shells say it
		file.Signal = &name
	}
	if code != 0 {
		return fmt.Errorf("%s failed: %v", program, child.ProcessState)
	}
	return nil
}
