// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Resolves host names on separate threads, for all event loops of one transport.
///
/// libcurl would resolve a name once for each waiting call. This type resolves a name only once for all calls that wait
/// for it. The system's function cannot be cancelled: a name whose DNS servers do not respond occupies one thread until
/// the system times out.
final class NameLookup: Sendable {
    enum Outcome: Sendable {
        /// The addresses in libcurl's format: `192.0.2.1,[2001:db8::1]`.
        case addresses(String)
        /// There are addresses, but none that libcurl's format can represent: libcurl must look up the name itself.
        case unwritable
        /// The reason of the failure.
        case failed(String)
    }

    private struct State {
        /// The completion handlers of pending lookups, by host name.
        var waiting: [String: [@Sendable (Outcome) -> Void]] = [:]
        /// Names that no thread resolves yet.
        var queue: [String] = []
        var threads = 0
    }

    /// The maximum number of concurrent lookups. Further names wait in `State.queue`.
    private static let threadLimit = 1024
    private static let addressLimit = 32

    private let family: Int32
    private let state = Locked(State())

    init(_ addresses: TransportConfiguration.DNS.Addresses) {
        family =
            switch addresses {
            case .any: AF_UNSPEC
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            }
    }

    /// Resolves `name` on another thread, and calls `done` there with the result. If no thread can be started and none
    /// is running, calls `done` with the failure before this function returns.
    func resolve(_ name: String, _ done: @escaping @Sendable (Outcome) -> Void) {
        let needsThread = state.withLock { state in
            state.waiting[name, default: []].append(done)
            guard state.waiting[name]?.count == 1 else { return false }
            state.queue.append(name)
            guard state.threads < Self.threadLimit else { return false }
            state.threads += 1
            return true
        }
        if needsThread, !startThread(self, runNameLookup) { giveUp() }
    }

    /// Resolves names until the queue is empty.
    fileprivate func run() {
        curlew_name_thread("curlew-lookup")
        while let name = nextName() { finish(name, find(name)) }
    }

    private func nextName() -> String? {
        state.withLock { state in
            if state.queue.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.queue.removeFirst()
        }
    }

    /// Handles a thread that could not be started. The existing threads process the queue. If there are none, all
    /// queued names fail.
    private func giveUp() {
        let left = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [String]() }
            defer { state.queue = [] }
            return state.queue
        }
        for name in left { finish(name, .failed("The system provided no thread.")) }
    }

    private func finish(_ name: String, _ result: Outcome) {
        for done in state.withLock({ $0.waiting.removeValue(forKey: name) }) ?? [] { done(result) }
    }

    /// Returns the addresses in a text of this format.
    static func addresses(_ text: String) -> [IPAddress] {
        text.parts(",").compactMap { IPAddress(String($0)) }
    }

    private func find(_ name: String) -> Outcome {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else { return .failed(gai_strerror(code).map { String(cString: $0) } ?? "error \(code)") }
        let found = sequence(first: list) { $0?.pointee.ai_next }.prefix(Self.addressLimit).prefix { $0 != nil }
        let texts = found.compactMap { $0.flatMap(Self.text) }
        return texts.isEmpty ? .unwritable : .addresses(texts.joined(separator: ","))
    }

    /// Returns the address in libcurl's format, or nil for an address with a zone (`fe80::1%eth0`), which libcurl
    /// cannot parse.
    private static func text(of entry: UnsafeMutablePointer<addrinfo>) -> String? {
        guard let address = entry.pointee.ai_addr else { return nil }
        let text = AddressText { curlew_address_text(address, $0, $1) }.string
        guard entry.pointee.ai_family == AF_INET6 else { return text.isEmpty ? nil : text }
        let zone = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee.sin6_scope_id }
        return zone == 0 ? "[\(text)]" : nil
    }
}

private func runNameLookup(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<NameLookup>.fromOpaque(context).takeRetainedValue().run()
    return nil
}

/// Starts a detached thread that runs `entry` with a retained reference to `owner`. Returns false if the system cannot
/// create a thread.
func startThread<Owner: AnyObject>(
    _ owner: Owner, _ entry: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: Musl.pthread_t?
    #endif
    let box = Unmanaged.passRetained(owner)
    let code = pthread_create(&thread, &attributes, entry, box.toOpaque())
    if code != 0 { box.release() }
    return code == 0
}
#endif
