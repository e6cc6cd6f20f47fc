// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewSQLite
import Foundation

// probe write <path> <seed> <milliseconds>   says "ready", writes without end, and kills itself after that time
// probe mix <path> <seed> <seconds>          reads, checks and writes for that time; says what went wrong
// probe check <path>                         checks all entries; says how many there are, or what is wrong

let words = CommandLine.arguments
let store = HTTPCache.SQLiteStore(path: words[2], byteLimit: 4 << 20)

func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

switch words[1] {
case "write":
    var load = Load(store, seed: UInt64(words[3]) ?? 0)
    try await load.write()
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + .milliseconds(Int(words[4]) ?? 0))
    timer.setEventHandler { kill(getpid(), SIGKILL) }
    timer.resume()
    while true { try await load.write() }
case "mix":
    var load = Load(store, seed: UInt64(words[3]) ?? 0)
    let end = ContinuousClock.now + .seconds(Int(words[4]) ?? 1)
    var count = 0
    do {
        while ContinuousClock.now < end {
            try await load.step()
            count += 1
        }
        say("fine after \(count) steps")
    } catch {
        say("step \(count): \(error)")
        exit(1)
    }
default:
    do {
        var count = 0
        for number in 0..<Load.keys { count += try await Load.check(Load.key(number), in: store) }
        say("\(count)")
    } catch {
        say("\(error)")
        exit(1)
    }
}
