// SPDX-License-Identifier: MIT

/// What `--suite` takes.
enum SuiteName: String, CaseIterable, Codable {
    case small, peers, protocols, bodies, connections, transfer, memory, cache

    var summary: String {
        switch self {
        case .small: "typed small GETs beside URLSession, and what the typed layer costs (without --suite)"
        case .peers: "typed small GETs beside clients in other languages, 1 to 1024 in flight"
        case .protocols: "typed small GETs over HTTP/1.1, TLS, and HTTP/2"
        case .bodies: "bodies of 200 B, 20 KB and 1 MB"
        case .connections: "a new connection for each request, without and with TLS"
        case .transfer: "1 GB to a file and from a file"
        case .memory: "resident memory by calls in flight and by size of body"
        case .cache: "answers from the cache beside those from the network, and look-ups in small and large stores"
        }
    }
}

/// The same work for several clients.
struct Contest {
    let suite: SuiteName
    let title: String
    let door: Door
    let work: Work
    let widths: [Int]
    let clients: [String]
}

extension SuiteName {
    private static let ours = ["curlew", "curlew-transport", "urlsession", "urlsession-wide"]
    /// For what is decoded.
    private static let oursTyped = ["curlew-foundation"] + ours
    private static let others = Peer.allCases.map(\.rawValue)

    /// `folder` is for files that clients write.
    func contests(_ options: Options, folder: String) -> [Contest] {
        func contest(_ title: String, _ door: Door, _ work: Work, _ widths: [Int], _ clients: [String]) -> Contest {
            let able = options.clients(clients).filter {
                Peer(rawValue: $0).map { $0.speaks(door) && $0.does(work) } ?? true
            }
            let usual = work.isTransfer ? [1] : options.widths(widths)
            return Contest(suite: self, title: title, door: door, work: work, widths: usual, clients: able)
        }
        let typed = "Small typed GET (200 B of JSON)"
        switch self {
        case .small:
            return [
                contest("\(typed), HTTP/1.1", .plain, .typed, [1, 16, 64, 256], Self.oursTyped + ["wrk"]),
                Contest(
                    suite: self, title: "The typed layer without a network", door: .plain, work: .typed, widths: [1],
                    clients: options.clients(["layer", "decoder"])),
            ]
        case .peers:
            let clients =
                ["curlew", "curlew-executor", "curlew-foundation", "urlsession-wide"] + Self.others + ["curl", "wrk"]
            return [contest("\(typed), HTTP/1.1", .plain, .typed, [1, 16, 64, 256, 1024], clients)]
        case .protocols:
            return [Door.plain, .tls, .h2].map { door in
                let ceiling = door == .h2 ? "h2load" : "wrk"
                return contest(
                    "\(typed), \(door.title)", door, .typed, [1, 64], Self.oursTyped + Self.others + ["curl", ceiling])
            }
        case .bodies:
            return [Door.plain, .h2].flatMap { door in
                [(200, "200 B"), (20_000, "20 KB"), (1_000_000, "1 MB")].map { size, text in
                    let clients =
                        ["curlew", "curlew-transport", "urlsession", "urlsession-wide"] + Self.others + [
                            "curl", door == .h2 ? "h2load" : "wrk",
                        ]
                    return contest("GET of \(text), \(door.title)", door, .bytes(size), [16], clients)
                }
            }
        case .connections:
            return [Door.plainOnce, .tlsOnce, .tlsResumed].map { door in
                contest(
                    "Small typed GET, \(door.title)", door, .typed, [16],
                    ["curlew", "urlsession", "urlsession-wide"] + Self.others + ["curl", "wrk"])
            }
        case .transfer: return transfers(options, folder, contest)
        case .cache:
            return [
                contest(
                    "GET of 200 B, not decoded: network and cache", .plain, .bytes(200), [1, 64], CacheClients.calls),
                contest("A look-up in a store in memory", .plain, .bytes(200), [1], CacheClients.lookups),
            ]
        case .memory:
            let clients = ["curlew", "urlsession-wide"] + Self.others
            return [
                contest("Memory: \(typed)", .plain, .typed, [1, 64, 1024], clients),
                contest("Memory: GET of 1 MB, read whole", .plain, .bytes(1_000_000), [64], clients),
            ]
        }
    }

    private func transfers(
        _ options: Options, _ folder: String, _ contest: (String, Door, Work, [Int], [String]) -> Contest
    ) -> [Contest] {
        let size = options.large
        let text = size == 1 << 30 ? "1 GB" : "\(size >> 20) MB"
        let clients = ["curlew", "curlew-progress", "curl", "urlsession"] + Self.others
        return [Door.plain, .tls, .h2].flatMap { door in
            [
                contest(
                    "\(text) downloaded to a file, \(door.title)", door, .download(size, to: folder + "/received"), [1],
                    clients),
                contest(
                    "\(text) uploaded from a file, \(door.title)", door,
                    .upload(size, from: "\(folder)/files/\(size).bin"), [1], clients),
            ]
        }
    }
}
