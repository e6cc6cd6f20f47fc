// SPDX-License-Identifier: MIT

import CurlewHTTP
import Foundation

/// How hard the tests in `Abuse` try. A usual run is a part; `Scripts/soak` asks for all of it.
enum Abuse {
    private static let environment = ProcessInfo.processInfo.environment

    /// Under ThreadSanitizer time and memory say nothing, and all is many times slower.
    static let isSanitized = dlsym(nil, "__tsan_init") != nil

    /// Transfers of one storm, and how many storms: `CURLEW_STORM=full` is 20,000 three times.
    static var storm: (transfers: Int, rounds: Int) {
        if environment["CURLEW_STORM"] == "full" { return (20_000, 3) }
        return (isSanitized ? 1000 : 5000, 1)
    }

    /// How long the soak goes on: `CURLEW_SOAK_SECONDS`, else a few seconds.
    static var soakTime: Duration {
        .seconds(environment["CURLEW_SOAK_SECONDS"].flatMap { Int($0) } ?? 6)
    }

    /// Bytes of memory that are the process's own now.
    static var residentMemory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let words = text.split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }

    /// As many descriptors as the system lets this process have.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// For tests in a process of their own, whose output is shown by the one that started it.
    static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// Memory over the course of a test: what the last quarter of the samples has more than the second.
struct MemoryCourse {
    private var samples: [Int] = []

    mutating func sample() {
        samples.append(Abuse.residentMemory)
    }

    /// In bytes, largest against largest; 0 with fewer than eight samples.
    var growth: Int {
        let quarter = samples.count / 4
        guard quarter >= 2, let last = samples.suffix(quarter).max(),
            let second = samples[quarter..<(2 * quarter)].max()
        else { return 0 }
        return last - second
    }

    var text: String {
        let quarter = max(1, samples.count / 4)
        let largest = stride(from: 0, to: samples.count, by: quarter).map { start in
            (samples[start..<min(samples.count, start + quarter)].max() ?? 0) >> 20
        }
        return "memory in MiB by quarters \(largest), growth \(growth >> 10) KiB"
    }
}
