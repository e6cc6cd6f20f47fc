// SPDX-License-Identifier: MIT

// One client under load: Go's net/http and encoding/json. Prints a sample as JSON.
//
//	peer-go WIDTH SECONDS URL WORK
package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type user struct {
	ID        int    `json:"id"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Email     string `json:"email"`
	Age       int    `json:"age"`
	IsActive  bool   `json:"isActive"`
}

type sample struct {
	RequestsPerSecond float64  `json:"requestsPerSecond"`
	CPUMicroseconds   float64  `json:"cpuMicroseconds"`
	Median            float64  `json:"median"`
	P99               float64  `json:"p99"`
	PeakMegabytes     float64  `json:"peakMegabytes"`
	GrowthMegabytes   *float64 `json:"growthMegabytes"`
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	if len(os.Args) != 5 {
		fail(fmt.Errorf("usage: peer-go WIDTH SECONDS URL WORK"))
	}
	width, _ := strconv.Atoi(os.Args[1])
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	url := os.Args[3]
	work := strings.SplitN(os.Args[4], ":", 3)
	client := newClient(width)
	switch work[0] {
	case "download", "upload":
		size, _ := strconv.ParseInt(work[1], 10, 64)
		warmUp := int64(1 << 20)
		for i := 0; i < 3; i++ {
			check(transfer(client, url, work[0], work[2], size, warmUp))
		}
		before, cpu, start := resident("VmRSS:"), cpuSeconds(), time.Now()
		check(transfer(client, url, work[0], work[2], size, size))
		report(1, time.Since(start).Seconds(), cpuSeconds()-cpu, nil, before)
	default:
		call := func() error { return typed(client, url) }
		if work[0] == "bytes" {
			size, _ := strconv.ParseInt(work[1], 10, 64)
			call = func() error { return bytes(client, url, size) }
		}
		load(call, width, min(0.3, seconds/4))
		before, cpu, start := resident("VmRSS:"), cpuSeconds(), time.Now()
		latencies := load(call, width, seconds)
		report(len(latencies), time.Since(start).Seconds(), cpuSeconds()-cpu, latencies, before)
	}
}

// As many idle connections as there are calls in flight: with its usual two, most calls would open a new one.
func newClient(width int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConns: 0, MaxIdleConnsPerHost: width, DisableCompression: true, ForceAttemptHTTP2: true,
		// Sessions are kept for resumption where the server offers it.
		TLSClientConfig: &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(0)},
		WriteBufferSize: 64 << 10, ReadBufferSize: 32 << 10,
	}}
}

func typed(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var got user
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return err
	}
	// The rest, so that the connection can be used again.
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && got.ID != 1 {
		err = fmt.Errorf("wrong answer")
	}
	return err
}

func bytes(client *http.Client, url string, size int64) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body := make([]byte, size)
	if _, err := io.ReadFull(response.Body, body); err != nil {
		return err
	}
	rest, err := io.Copy(io.Discard, response.Body)
	if err == nil && rest != 0 {
		err = fmt.Errorf("too many bytes")
	}
	return err
}

// A transfer of `size` bytes, or a small one of the same kind.
func transfer(client *http.Client, url, kind, path string, full, size int64) error {
	name := strconv.FormatInt(size, 10) + ".bin"
	if kind == "download" {
		url = strings.Replace(url, strconv.FormatInt(full, 10)+".bin", name, 1)
		os.Remove(path)
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer file.Close()
		response, err := client.Get(url)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		count, err := io.Copy(file, response.Body)
		if err == nil && count != size {
			err = fmt.Errorf("%d bytes came instead of %d", count, size)
		}
		return err
	}
	file, err := os.Open(filepath.Join(filepath.Dir(path), name))
	if err != nil {
		return err
	}
	defer file.Close()
	request, err := http.NewRequest("PUT", url, file)
	if err != nil {
		return err
	}
	request.ContentLength = size
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// `width` lanes call one after the other until the time is over. Returns microseconds.
func load(call func() error, width int, seconds float64) []float64 {
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var all []float64
	var lock sync.Mutex
	var lanes sync.WaitGroup
	for i := 0; i < width; i++ {
		lanes.Add(1)
		go func() {
			defer lanes.Done()
			var mine []float64
			for {
				before := time.Now()
				if !before.Before(end) {
					break
				}
				check(call())
				mine = append(mine, float64(time.Since(before).Microseconds()))
			}
			lock.Lock()
			all = append(all, mine...)
			lock.Unlock()
		}()
	}
	lanes.Wait()
	return all
}

func report(count int, seconds, cpu float64, latencies []float64, before float64) {
	sort.Float64s(latencies)
	quantile := func(part float64) float64 {
		if len(latencies) == 0 {
			return 0
		}
		return latencies[int(part*float64(len(latencies)-1))]
	}
	peak := resident("VmHWM:")
	growth := peak - before
	check(json.NewEncoder(os.Stdout).Encode(sample{
		RequestsPerSecond: float64(count) / seconds, CPUMicroseconds: cpu * 1e6 / float64(count),
		Median: quantile(0.5), P99: quantile(0.99), PeakMegabytes: peak, GrowthMegabytes: &growth,
	}))
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// Megabytes, from the system's list of facts; zero where there is none.
func resident(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			return kilobytes / 1024
		}
	}
	return 0
}

func min(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
