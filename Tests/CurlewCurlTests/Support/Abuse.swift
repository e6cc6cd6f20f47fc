// SPDX-License-Identifier: MIT

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

    /// Calls beside a server that writes what belongs to none, and the seed: `CURLEW_DESYNC=full` is 100,000 of them,
    /// `CURLEW_DESYNC_SEED` a run as it was before.
    static var desync: (calls: Int, seed: UInt64) {
        let seed = environment["CURLEW_DESYNC_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...(.max))
        if environment["CURLEW_DESYNC"] == "full" { return (100_000, seed) }
        return (isSanitized ? 1000 : 5000, seed)
    }

    /// Idle connections of one transport: `CURLEW_IDLE=full` is 10,000.
    static var idleConnections: Int { environment["CURLEW_IDLE"] == "full" ? 10_000 : 300 }

    /// How long the soak goes on: `CURLEW_SOAK_SECONDS`, else a few seconds.
    static var soakTime: Duration {
        .seconds(environment["CURLEW_SOAK_SECONDS"].flatMap { Int($0) } ?? 6)
    }

    /// On a machine that has much else to do, hundreds of handshakes at a time take longer than the usual ten seconds.
    static let timeouts = Timeouts(connect: .seconds(60))

    /// Bytes of memory that are the process's own now.
    static var residentMemory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let words = text.split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }

    /// Bytes that are allocated now. Resident memory is more: what was needed once, and the gaps.
    static var heapInUse: Int {
        typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        guard let symbol = dlsym(nil, "malloc_info") else { return 0 }
        var text: UnsafeMutablePointer<CChar>?
        var size = 0
        guard let file = open_memstream(&text, &size) else { return 0 }
        _ = unsafeBitCast(symbol, to: MallocInfo.self)(0, file)
        fclose(file)
        guard let text else { return 0 }
        defer { free(text) }
        // The totals of all arenas come last: taken from the system, less what lies free, and large blocks.
        let totals = String(cString: text).components(separatedBy: "</heap>").last ?? ""
        func value(_ start: String) -> Int {
            guard let line = totals.components(separatedBy: "\n").first(where: { $0.hasPrefix("<" + start) }) else {
                return 0
            }
            return line.components(separatedBy: "size=\"").last?.split(separator: "\"").first.flatMap { Int($0) } ?? 0
        }
        return value("system type=\"current\"") - value("total type=\"fast\"") - value("total type=\"rest\"")
            + value("total type=\"mmap\"")
    }

    /// At the beginning of a process of its own: as many descriptors as the system gives, and no memory for errors.
    static func begin() {
        forgetErrors()
        shareMemory()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The test library keeps a backtrace of every error that is thrown, under a key for its object, until the test
    /// ends: 15 MiB in half a million exchanges, which hid what is measured here.
    private static func forgetErrors() {
        for handler in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
            dlsym(nil, handler)?.storeBytes(of: 0, as: UInt.self)
        }
    }

    /// The system's library gives each of many threads a store of memory of its own, and each keeps what it
    /// once needed: on a busy machine another one joins at any time, and memory then grew by 13 MiB of which 4 were in
    /// use. With two for all of them it reports what is kept.
    private static func shareMemory() {
        typealias MallocOption = @convention(c) (Int32, Int32) -> Int32
        let (mostStores, count) = (Int32(-8), Int32(2))
        guard let symbol = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(symbol, to: MallocOption.self)(mostStores, count)
    }

    /// For tests in a process of their own, whose output is shown by the one that started it.
    static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// Memory over the course of a test: what the last quarter of the samples has more than the second.
///
/// What counts is memory in use. Resident memory is printed only: it follows the largest need of any moment, and grew
/// by 9 MiB in a storm whose memory in use grew by one.
struct MemoryCourse {
    private var resident: [Int] = []
    private var inUse: [Int] = []

    mutating func sample() {
        resident.append(Abuse.residentMemory)
        inUse.append(Abuse.heapInUse)
    }

    /// Of what is in use, in bytes, largest against largest; nil with fewer than eight samples.
    var growth: Int? {
        let quarter = inUse.count / 4
        guard quarter >= 2, let last = inUse.suffix(quarter).max(), let second = inUse[quarter..<(2 * quarter)].max()
        else { return nil }
        return last - second
    }

    var text: String {
        """
        memory in MiB by quarters \(Self.largest(resident)), in use \(Self.largest(inUse)), \
        growth \((growth ?? 0) >> 10) KiB
        """
    }

    private static func largest(_ samples: [Int]) -> [Int] {
        let quarter = max(1, samples.count / 4)
        return stride(from: 0, to: samples.count, by: quarter).map { start in
            (samples[start..<min(samples.count, start + quarter)].max() ?? 0) >> 20
        }
    }
}
