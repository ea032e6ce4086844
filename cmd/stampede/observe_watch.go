package main

import (
	"context"
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
	w.proxy, err = a.startProxy(f, target, servers, w.seen)
	if err != nil && w.service != nil {
		err = errors.Join(err, w.service.Close())
	}
	return w, err
}

func (a *app) startProxy(f observeFlags, target backends.Target, servers []string, seen *observe.Analysis) (*proxy.Proxy, error) {
	encryption, err := f.security.TLSConfig()
	if err != nil {
		return nil, cli.Usage(err)
	}
	protocol := protocolOf(target.Scheme())
	clients, err := f.encryption.config(traffic.ApplicationProtocols(protocol.Speaks...))
	if err != nil {
		return nil, err
	}
	var behind []proxy.Server
	for _, s := range servers {
		one := proxy.Server{Address: s}
		if encryption != nil {
			one.TLS = encryption.Clone()
			if host, _, err := net.SplitHostPort(s); err == nil && one.TLS.ServerName == "" {
				one.TLS.ServerName = host
			}
		}
		behind = append(behind, one)
	}
	addresses, err := proxy.Spread([]string{f.listen}, len(servers))
	if err != nil {
		return nil, cli.Flagf("listen", ": %w", err)
	}
	p, err := proxy.Listen(addresses, behind, proxy.Options{TLS: clients, Protocol: protocol, Observer: seen})
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return p, nil
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
	if code != 0 {
		return fmt.Errorf("%s failed: %v", program, child.ProcessState)
	}
	return nil
}
