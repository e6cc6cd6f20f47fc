// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The differences between a request and the stubs of a mock, or the routes of a server.
struct NearestStubs {
    let method: HTTPMethod
    let target: String
    let noun: RequestMismatch.Noun

    /// Returns each pattern with its differences from the request.
    func candidates(_ patterns: [RoutePattern]) -> [(name: String, differences: [Difference])] {
        patterns.map { (name: $0.description, differences: differences($0)) }
    }

    private func differences(_ pattern: RoutePattern) -> [Difference] {
        if let mistake = mistake(in: pattern) { return [mistake] + methodDifference(pattern) }
        return methodDifference(pattern) + pattern.differences(from: target, noun: noun)
    }

    private func methodDifference(_ pattern: RoutePattern) -> [Difference] {
        guard let wanted = pattern.method, wanted != method, !(method == .head && wanted == .get && noun == .route)
        else { return [] }
        let isCase = wanted.rawValue.uppercased() == method.rawValue.uppercased()
        return [
            Difference(
                "the method of the request is \(method), that of the \(noun.rawValue) is \(wanted)"
                    + (isCase ? " (methods are case-sensitive)" : ""))
        ]
    }

    /// Returns the difference for a pattern that can match no request, because it contains more than a path.
    private func mistake(in pattern: RoutePattern) -> Difference? {
        if let mark = pattern.path.first("?") {
            let query = String(pattern.path[mark...])
            let path = RoutePattern(pattern.method, String(pattern.path[..<mark]))
            let matches = path.parameters(in: target) != nil
            return Difference(
                "the \(noun.rawValue) contains the query \(Difference.quoted(query)), but a \(noun.rawValue) matches the "
                    + "path only: remove the query, and check it in the closure", weight: matches ? 1 : 6)
        }
        if let scheme = pattern.path.utf8.firstRange(of: "://".utf8) {
            let rest = pattern.path[scheme.upperBound...]
            let path = rest.first("/").map { String(rest[$0...]) } ?? "/"
            let matches = RoutePattern(pattern.method, path).parameters(in: target) != nil
            return Difference(
                "the \(noun.rawValue) contains a host, but a \(noun.rawValue) matches the path only: use "
                    + Difference.quoted(path), weight: matches ? 1 : 6)
        }
        return nil
    }
}

extension RoutePattern {
    /// Returns the differences between the path of a request target and this pattern, segment by segment.
    func differences(from target: String, noun: RequestMismatch.Noun) -> [Difference] {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let sent = Self.split(path).map { PercentCoding.decode($0) ?? $0 }
        return PathDifference(noun: noun).differences(sent: sent, wanted: shownSegments)
    }
}
