// SPDX-License-Identifier: MIT

@testable import CurlewCookies
@testable import CurlewCore

/// A jar with a few rules of publicsuffix.org, whatever list the machine has.
enum CookieFixtures {
    static let suffixes = CookieStore.PublicSuffixList(
        parsing: """
            // A comment, then rules; what follows a blank is no part of a rule.
            com
            test
            uk
            co.uk   ignored
            jp
            *.kawasaki.jp
            !city.kawasaki.jp
            *.ck
            !www.ck
            公司.cn
            cn
            io
            github.io
            """)

    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    static func jar(_ limits: CookieStore.Limits = .standard) -> CookieJar {
        CookieJar(limits: limits, publicSuffixes: suffixes)
    }

    static func request(_ url: String, _ method: HTTPMethod = .get) throws -> HTTPRequest {
        try HTTPRequest(method, url: url)
    }

    /// What a jar that got `lines` from `source` sends to `target`.
    static func sent(
        _ lines: [String], from source: String = "https://www.a.test/dir/page", to target: String,
        _ method: HTTPMethod = .get, isCrossSite: Bool = false, after seconds: Double = 0
    ) throws -> String? {
        var jar = jar()
        for line in lines { jar.store(line, from: try request(source), at: now) }
        return jar.header(
            for: try request(target, method), isCrossSite: isCrossSite, at: now.addingTimeInterval(seconds))
    }
}

/// Records each refused cookie as its name and the reason.
final class RefusedCookies: RequestObserver {
    private let events = Locked<[String]>([])

    var refused: [String] { events.withLock { $0 } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard case .feature(CookieStore.Event.refused(let refusal, let name)) = event else { return }
        events.withLock { $0.append("\(name) \(refusal)") }
    }
}
