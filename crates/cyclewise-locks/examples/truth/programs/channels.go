// Goroutines that pass numbers on by channels, and add them up under one mutex.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const workers = 8

func main() {
	numbers := 12000000
	if len(os.Args) > 1 {
		given, err := strconv.Atoi(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, "usage: channels [NUMBERS]")
			os.Exit(2)
		}
		numbers = given
	}
	jobs := make(chan int, 64)
	results := make(chan int, 64)
	var lock sync.Mutex
	seen := map[int]int{}
	var group sync.WaitGroup
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for job := range jobs {
				lock.Lock()
				seen[job%1000]++
				lock.Unlock()
				results <- job*7%1001 + 1
			}
		}()
	}
	go func() {
		for number := range numbers {
			jobs <- number
		}
		close(jobs)
		group.Wait()
		close(results)
	}()
	sum := 0
	for result := range results {
		sum += result
	}
	fmt.Println(numbers, "numbers, sum", sum, "of", len(seen), "kinds")
}
